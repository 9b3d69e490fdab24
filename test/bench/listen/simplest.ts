// The limit: the simplest receiver that keeps the promise. A delivery is verified, its lead read, its id looked for, and it is
// stored with its headers and committed with all that arrived meanwhile, before it is answered. Whatever `leads listen` takes
// beyond it is what it can do beyond it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import Database from 'libsql';
import { z } from 'zod';

interface Waiting {
  readonly id: string;
  readonly headers: string;
  readonly body: Buffer;
  readonly response: ServerResponse;
}

const [pair = '', location = '', secret = ''] = process.argv.slice(2);
const pem = readFileSync(pair, 'utf8');
const bodyLimit = 1_048_576;
const shape = z.looseObject({ id: z.string().min(1).max(256) });

const database = new Database(location);
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE deliveries (seq INTEGER PRIMARY KEY, id TEXT, received_at INTEGER, headers TEXT, body BLOB);
  CREATE TABLE leads (id TEXT PRIMARY KEY, seq INTEGER) WITHOUT ROWID`);
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');
const known = database.prepare('SELECT seq FROM leads WHERE id = ?');
const insertDelivery = database.prepare('INSERT INTO deliveries VALUES (?, ?, ?, ?, ?)');
const insertLead = database.prepare('INSERT INTO leads VALUES (?, ?)');

let seq = 0;
let waiting: Waiting[] = [];

/** Stores all that arrived in one turn of the event loop in one transaction, then answers. */
function storeAndAnswer(): void {
  const batch = waiting;
  waiting = [];
  const now = Date.now();
  const statuses: string[] = [];
  try {
    begin.run();
    for (const { id, headers, body } of batch) {
      const isKnown = known.get(id) !== undefined;
      seq += 1;
      insertDelivery.run(seq, id, now, headers, body);
      if (!isKnown) insertLead.run(id, seq);
      statuses.push(isKnown ? 'duplicate' : 'accepted');
    }
    commit.run();
  } catch {
    if (database.inTransaction) database.exec('ROLLBACK');
    for (const { response } of batch) answer(response, 503, { error: 'cannot store' });
    return;
  }
  for (const [index, { id, response }] of batch.entries())
    answer(response, 200, { status: statuses[index], id });
}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size <= bodyLimit) chunks.push(chunk);
  });
  request.on('end', () => {
    if (size > bodyLimit) {
      answer(response, 413, { error: 'too large' });
      return;
    }
    const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
    if (!isGenuine(request.headers['x-hub-signature-256'], body)) {
      answer(response, 401, { error: 'signature' });
      return;
    }
    const id = idIn(body);
    if (id === undefined) {
      answer(response, 400, { error: 'not a lead' });
      return;
    }
    if (waiting.length === 0) setImmediate(storeAndAnswer);
    waiting.push({ id, headers: JSON.stringify(request.rawHeaders), body, response });
  });
}

function isGenuine(sent: string | string[] | undefined, body: Buffer): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(String(sent));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function idIn(body: Buffer): string | undefined {
  try {
    return shape.safeParse(JSON.parse(body.toString('utf8'))).data?.id;
  } catch {
    return undefined;
  }
}

function answer(response: ServerResponse, status: number, value: object): void {
  const text = JSON.stringify(value);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  response.writeHead(status, headers).end(text);
}

const server = createServer({ cert: pem, key: pem, minVersion: 'TLSv1.3' }, receive);
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

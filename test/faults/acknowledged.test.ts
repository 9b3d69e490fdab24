import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { authorityOf, binary, environment, listenProcess } from '../support/listen-process.ts';
import { filesIn, temporaryIn } from '../support/files-in.ts';
import { storedIds } from '../support/stored-ids.ts';
import { until } from '../support/until.ts';
import { startSender } from './retrying-sender.ts';
import { full } from '../support/faults.ts';

const leads = full ? 20_000 : 1_000;
const kills = full ? 100 : 10;
const token = 'token-of-the-tests';

const children: { kill(signal: 'SIGKILL'): unknown }[] = [];

/** A sender never gives up, so a test that failed must not leave one running. */
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

it.each(full ? ['the inbox', 'the inbox and --output'] : ['the inbox and --output'])(
  'promise 1: a 200 means that the lead is on disk: %s',
  async (what) => {
    const port = String(await freePort());
    const first = await listenProcess(['--token', token, '--port', port]);
    const { home } = first;
    const output = join(home, 'leads.ndjson');
    // A claim lasts ten seconds longer than an attempt can, and so does the wait for the last lead.
    const argv = ['--token', token, '--port', port, '--timeout', '5s'];
    if (what !== 'the inbox') argv.push('--output', output);
    await first.end('SIGINT');
    const env = temporaryIn(home);
    mkdirSync(env.TMPDIR);
    const before = filesIn(home);

    let listener = await listenProcess(argv, { home, env });
    const sending = startSender(listener.url, authorityOf(home), { token, leads });
    children.push(sending.child);
    const sent = { all: false };
    const isOver = (): boolean => sent.all;
    void sending.done.finally(() => (sent.all = true));
    let killed = 0;
    for (; killed < kills && !isOver(); killed += 1) {
      const after = ((killed + Math.random()) * leads) / (kills + 1);
      await until(() => sending.acks() >= after || isOver(), 'further acknowledgements', 60_000);
      await listener.end('SIGKILL');
      listener = await listenProcess(argv, { home, env });
      children.push(listener.child);
    }
    await sending.done;
    // What a receiver had claimed when it was killed is written once the claim ends.
    const location = join(home, 'data', 'inbox.db');
    await until(
      async () => {
        const words = ['inbox', 'list', '--verdict', 'waiting', '--limit', '1', '--json'];
        const environ = { PATH: process.env['PATH'], ...environment(home) };
        const { stdout } = await promisify(execFile)(process.execPath, [binary, ...words], { env: environ });
        return stdout.trim() === '[]';
      },
      'the last lead to be written',
      120_000,
    );
    await listener.end('SIGINT');
    expect(filesIn(home).filter((file) => file !== 'leads.ndjson')).toEqual(before);

    const linesOf = (text: string) => text.trimEnd().split('\n');
    const written = what === 'the inbox' ? [] : linesOf(readFileSync(output, 'utf8'));
    const writtenIds = written.map((line) => (JSON.parse(line) as { id: string }).id);
    const places = [await storedIds(location), ...(what === 'the inbox' ? [] : [writtenIds])];
    const lost = places.flatMap((ids) => {
      const place = new Set(ids);
      return [...sending.told.keys()].filter((id) => !place.has(id));
    });
    const twice = places.flatMap((ids) => ids.toSorted().filter((id, i, sorted) => id === sorted[i + 1]));
    console.log(
      `promise 1 (${what}): ${killed} × kill -9 under ${leads} deliveries: ` +
        `acknowledged ${sending.told.size}, lost ${lost.length}, stored twice ${twice.length}`,
    );
    expect(killed).toBe(kills);
    expect(sending.told.size).toBe(leads);
    expect(lost).toEqual([]);
    expect(twice).toEqual([]);
  },
);

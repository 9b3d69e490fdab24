import { stat } from 'node:fs/promises';
import type { ReceivedSide } from '../../audit/compare-leads.ts';
import type { Context } from '../../context.ts';
import { DataError, messageOf, OutputError } from '../../errors.ts';
import type { PrunedLead, ReceivedLead, ReceivedLeads, StoredLead } from '../../inbox/query-types.ts';
import { bytesOf, numberOf, textOf } from '../../inbox/sql/row.ts';
import { fromColumn, toColumn } from '../../inbox/sql/statement.ts';
import { type Database, loadLibsql, type Statement } from '../../inbox/sqlite/libsql.ts';
import { bufferOf, compact, sha256 } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/lead-reader.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { type LeadAt, possibleLeads, readLeads } from '../../lead/read-leads.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { type Chunks, chunksOf, nameOf, objectsIn, scannedObject } from '../send/lead-file.ts';

/**
 * `--received FILE`, `-` for stdin: an application's own leads, read into a temporary database. Throws a `DataError` for a file
 * that cannot be read, for what is no JSON, and for objects without any lead.
 */
export async function openReceivedFile(
  file: string,
  leadAt: LeadAt,
  context: Context,
): Promise<ReceivedSide> {
  const { messages } = context;
  // The file may be written to, or replaced, while it is read.
  const writtenAt = await lastWrite(file);
  const name = nameOf(file);
  const database = await LeadDatabase.open();
  try {
    await fillDatabase(file, database, leadAt, context);
  } catch (error) {
    await database.close();
    throw error;
  }
  if (database.size === 0) messages.warn(`${name} holds no lead`);
  return {
    name,
    leads: database,
    undecidable: ['refused', 'waiting', 'late'],
    hasTimes: false,
    writtenAt,
    rejections: () => Promise.resolve(new Map()),
    close: () => database.close(),
  };
}

async function fillDatabase(
  file: string,
  database: LeadDatabase,
  leadAt: LeadAt,
  context: Context,
): Promise<void> {
  const { status, clock, messages } = context;
  const { dialect, webhookId } = await context.settings();
  // The service's own records have the id where the list has it, and deliveries may have it elsewhere.
  const idNames = [...new Set([dialect.id ?? 'id', webhookId, 'id'])];
  const name = nameOf(file);
  const progress = showProgress(status, clock);
  let withoutId = 0;
  let repeated = 0;
  try {
    for await (const records of recordsIn(chunksOf(file, context), name, { leadAt, idNames })) {
      const leads = records.filter(hasId);
      withoutId += records.length - leads.length;
      repeated += leads.length - database.add(leads);
      progress.update(database.size, undefined);
    }
  } finally {
    progress.clear();
  }
  const records = counted(withoutId, 'record', 'records');
  if (withoutId > 0 && database.size === 0) {
    throw new DataError(`no lead was found in ${name}: ${records} without a usable id`, {
      hint: "--lead-at POINTER says where the leads are, such as /data/leads; 'leads config set api.id FIELD' how their id is called",
    });
  }
  if (withoutId > 0) messages.warn(`${records} of ${file} without a usable id cannot be compared`);
  if (repeated > 0) {
    const ids = counted(repeated, 'lead of', 'leads of');
    messages.note('repeated', `${ids} ${file} came before in it: of each id the first is compared`);
  }
}

interface Reading {
  readonly leadAt: LeadAt;
  /** Fields that may be the id: the first that is usable counts. */
  readonly idNames: readonly string[];
}

interface FileRecord extends Pick<FiledLead, 'body'> {
  readonly id: string | undefined;
}

const hasId = (record: FileRecord): record is FiledLead => record.id !== undefined;

async function* recordsIn(
  chunks: Chunks,
  name: string,
  reading: Reading,
): AsyncGenerator<readonly FileRecord[]> {
  let entryNumber = 0;
  for await (const objects of objectsIn(chunks, name)) {
    yield objects.flatMap((object) => {
      scannedObject(object, (entryNumber += 1), name);
      return leadsIn(object, reading);
    });
  }
}

/**
 * The leads of an object, in this order: the object, where it has an id itself and no second key of such a name; what a receiver would
 * find in it as a delivery, by each name of the id in turn; the object, where it has an id itself; and all parts that may be leads,
 * since a file may have more of them in one object than a delivery may have. Without any of these it is one record without an id.
 */
function leadsIn(object: Buffer, { leadAt, idNames }: Reading): readonly FileRecord[] {
  const ownId = leadAt === 'auto' ? idAmong(object, idNames) : undefined;
  const wholeObject = { id: ownId, body: object };
  if (ownId !== undefined && hasOneIdKey(object, idNames)) return [wholeObject];
  for (const name of idNames) {
    const read = readLeads(object, leadAt, {}, { name });
    if (!read.ok) continue;
    const isObjectItself = read.leads.some(({ place }) => place === undefined);
    if (isObjectItself && ownId !== undefined) continue;
    return read.leads.map(({ lead: { id }, place }) => ({ id, body: leadBytes(object, place) }));
  }
  if (ownId !== undefined) return [wholeObject];
  const bodies = idNames
    .map((name) => possibleLeads(object, leadAt, { name }))
    .find(({ length }) => length > 0);
  return bodies?.map((body) => ({ id: idAmong(body, idNames), body })) ?? [wholeObject];
}

/** Most records have one id alone, so that nothing inside them is a lead. This finds out without parsing them. */
function hasOneIdKey(object: Buffer, idNames: Reading['idNames']): boolean {
  const keys = new Set(idNames.map((name) => `"${name.split('.').at(-1) ?? ''}"`));
  const positions = [...keys].flatMap((key) => [object.indexOf(key), object.lastIndexOf(key)]);
  return new Set(positions.filter((position) => position !== -1)).size === 1;
}

function idAmong(body: Uint8Array, idNames: Reading['idNames']): string | undefined {
  const record = bufferOf(compact(body));
  return idNames.map((name) => identifiedRecord(record, 0, name).id).find((id) => id !== undefined);
}

/** A lead that was created later cannot be in the file. Undefined for what is no file, or cannot be read. */
async function lastWrite(file: string): Promise<number | undefined> {
  const stats = file === '-' ? undefined : await stat(file).catch(() => undefined);
  return stats?.isFile() === true ? stats.mtimeMs : undefined;
}

/**
 * A database without a name: SQLite removes its file as it makes it, so that nothing stays however the process ends. Nothing
 * in it has to be durable: its one transaction never ends.
 */
const schema = `
  PRAGMA temp_store = FILE;
  ATTACH '' AS received;
  PRAGMA received.journal_mode = OFF;
  PRAGMA received.synchronous = OFF;
  PRAGMA received.cache_size = -16384;
  BEGIN;
  CREATE TABLE received.leads (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, body BLOB NOT NULL);
`;

/** A statement for each lead would cost more than all else that is done for it. */
const leadsInStatement = 100;

const insertOf = (leads: number): string =>
  `INSERT INTO leads (id, digest, body) VALUES ${Array(leads).fill('(?, ?, ?)').join()} ON CONFLICT (id) DO NOTHING`;

interface FiledLead {
  readonly id: string;
  readonly body: Uint8Array;
}

/** Keeps any number of leads of a file for lookups. It does not know when they were received, and gives the time 0. */
export class LeadDatabase implements ReceivedLeads {
  readonly #database: Database;
  readonly #addMany: Statement;
  readonly #lookUp: Statement;
  readonly #findBodies: Statement;
  size = 0;

  static async open(): Promise<LeadDatabase> {
    const Libsql = await loadLibsql();
    return new LeadDatabase(new Libsql(':memory:', { timeout: 0 }));
  }

  private constructor(database: Database) {
    this.#database = database;
    database.exec(schema);
    this.#addMany = database.prepare(insertOf(leadsInStatement));
    this.#lookUp = database.prepare(
      'SELECT key, seq, hex(digest) AS digest FROM json_each(?) JOIN leads ON leads.id = value',
    );
    this.#findBodies = database.prepare(
      'SELECT seq, leads.id AS lead, body FROM json_each(?) JOIN leads ON seq = value',
    );
  }

  /**
   * Returns how many of the leads have an id that was not there before; of each id the first one is kept. Throws an `OutputError` when the temporary file cannot be written.
   */
  add(leads: readonly FiledLead[]): number {
    const before = this.size;
    try {
      for (let start = 0; start < leads.length; start += leadsInStatement) {
        const batch = leads.slice(start, start + leadsInStatement);
        const insert =
          batch.length === leadsInStatement ? this.#addMany : this.#database.prepare(insertOf(batch.length));
        const values = batch.flatMap(({ id, body }) => [toColumn(id), sha256(body), body]);
        this.size += insert.run(values).changes;
      }
    } catch (cause) {
      throw new OutputError(`cannot keep the leads in a temporary file: ${messageOf(cause)}`, {
        hint: 'make space for temporary files, or name a directory for them in SQLITE_TMPDIR',
        cause,
      });
    }
    return this.size - before;
  }

  lookUp(leadIds: readonly string[]): Promise<readonly (ReceivedLead | undefined)[]> {
    const leads: (ReceivedLead | undefined)[] = leadIds.map(() => undefined);
    for (const { key, seq, digest } of this.#lookUp.all([JSON.stringify(leadIds.map(toColumn))])) {
      leads[numberOf(key)] = {
        seq: numberOf(seq),
        receivedAt: 0,
        digest: textOf(digest).toLowerCase(),
        isWaiting: false,
      };
    }
    return Promise.resolve(leads);
  }

  async *seqsSince(): AsyncGenerator<readonly number[]> {
    for (let first = 1; first <= this.size; first += 1000) {
      const length = Math.min(1000, this.size - first + 1);
      yield await Promise.resolve(Array.from({ length }, (_, i) => first + i));
    }
  }

  leadsBySeq(seqs: readonly number[]): Promise<readonly StoredLead[]> {
    const leads = this.#findBodies.all([JSON.stringify(seqs)]).map(({ seq, lead, body }): StoredLead => ({
      leadId: fromColumn(textOf(lead)),
      seq: numberOf(seq),
      receivedAt: 0,
      body: bytesOf(body),
    }));
    return Promise.resolve(leads);
  }

  async *prunedSince(): AsyncGenerator<readonly PrunedLead[]> {
    yield* await Promise.resolve([]);
  }

  close(): Promise<void> {
    this.#database.close();
    return Promise.resolve();
  }
}

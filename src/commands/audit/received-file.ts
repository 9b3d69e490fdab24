import { stat } from 'node:fs/promises';
import type { ReceivedSide } from '../../audit/compare-leads.ts';
import { type FiledLead, LeadDatabase } from '../../audit/temporary-lead-database.ts';
import { allClasses, type LeadClass } from '../../audit/classify-lead.ts';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import { linesIn } from '../../files/read.ts';
import { bufferOf, compact, utf8 } from '../../json/bytes.ts';
import { jsonIn } from '../../json/exact.ts';
import { identifiedRecord } from '../../json/lead-reader.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import { type LeadAt, possibleLeads, readLeads } from '../../lead/read-leads.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { formatDuration } from '../../time/time-text.ts';
import { type Chunks, chunksOf, nameOf, objectsIn, scannedObject, startOf } from '../send/lead-file.ts';

const mentionedAgeMs = 3_600_000;

/** A file of ids alone shows which leads are missing. It has no fields and times for the other classes, and may list ids of other leads. */
const notShownByIds = allClasses.filter((kind) => kind !== 'missing' && kind !== 'unsettled');

/**
 * `--received FILE`, `-` for stdin: an application's own leads, or their ids, read into a temporary database. Throws a
 * `DataError` for a file that cannot be read, for what is neither JSON nor ids, and for objects without any lead.
 */
export async function openReceivedFile(
  file: string,
  leadAt: LeadAt,
  context: Context,
): Promise<ReceivedSide> {
  const { messages } = context;
  // The file may be written to, or replaced, while it is read.
  const writtenAt = await lastWrite(file, context);
  const name = nameOf(file);
  const database = await LeadDatabase.open();
  let undecidable: readonly LeadClass[] = ['refused', 'waiting', 'late'];
  try {
    const holdsIdsAlone = await fillDatabase(file, database, leadAt, context);
    if (holdsIdsAlone) {
      undecidable = notShownByIds;
      messages.note('bare ids', `${name} holds ids alone: only what is missing can be told`);
    }
  } catch (error) {
    await database.close();
    throw error;
  }
  if (database.size === 0) messages.warn(`${name} holds no lead`);
  return {
    name,
    leads: database,
    undecidable,
    hasTimes: false,
    writtenAt,
    rejections: () => Promise.resolve(new Map()),
    close: () => database.close(),
  };
}

/** Resolves to whether the file holds ids alone. */
async function fillDatabase(
  file: string,
  database: LeadDatabase,
  leadAt: LeadAt,
  context: Context,
): Promise<boolean> {
  const { status, clock, messages } = context;
  const { dialect, webhookId } = await context.settings();
  // The service's own records have the id where the list has it, and deliveries may have it elsewhere.
  const idNames = [...new Set([dialect.id ?? 'id', webhookId, 'id'])];
  const name = nameOf(file);
  const { holdsIds, chunks } = await contentOf(chunksOf(file, context));
  const progress = showProgress(status, clock);
  let withoutId = 0;
  let repeated = 0;
  try {
    const batches = holdsIds ? idsIn(chunks, name) : recordsIn(chunks, name, { leadAt, idNames });
    for await (const records of batches) {
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
  return holdsIds;
}

interface Reading {
  readonly leadAt: LeadAt;
  /** Fields that may be the id: the first that is usable counts. */
  readonly idNames: readonly string[];
}

interface FileRecord {
  readonly id: string | undefined;
  readonly body: Uint8Array | undefined;
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
  for (const name of idNames) {
    const { id } = identifiedRecord(record, 0, name);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** A lead that was created later cannot be in the file. Undefined for what is no file, or cannot be read. */
async function lastWrite(file: string, { clock, messages }: Context): Promise<number | undefined> {
  if (file === '-') return undefined;
  const stats = await stat(file).catch(() => undefined);
  if (stats?.isFile() !== true) return undefined;
  const now = clock.now();
  if (now - stats.mtimeMs > mentionedAgeMs) {
    const age = formatDuration(now - stats.mtimeMs);
    messages.note('written', `${file} was written ${age} ago: leads created since then are not counted`);
  }
  return stats.mtimeMs;
}

const byteOrderMarkAndSpace = /^(?:\xef\xbb\xbf)?\s*/;

/** Looks at the first byte: a file begins with an object or an array, or with an id, which is bare or in quotes. `chunks` is the whole file. */
async function contentOf(file: Chunks): Promise<{ readonly holdsIds: boolean; readonly chunks: Chunks }> {
  const textOf = (bytes: Buffer): string => bytes.toString('latin1').replace(byteOrderMarkAndSpace, '');
  const { start, chunks } = await startOf(file, (bytes) => textOf(bytes) !== '');
  const text = textOf(start);
  return { holdsIds: text !== '' && !/^[{[]/.test(text), chunks };
}

const columnHead = /^"?id"?$/i;

/** Reads ids, one a line, bare or as JSON and CSV write them. Throws a `DataError` for any other line. */
async function* idsIn(chunks: Chunks, name: string): AsyncGenerator<readonly FileRecord[]> {
  let entryNumber = 0;
  for await (const lines of linesIn(chunks)) {
    const ids: FileRecord[] = [];
    for (const { bytes } of lines) {
      const token = utf8(bytes).trim();
      if (token === '') continue;
      entryNumber += 1;
      if (entryNumber === 1 && columnHead.test(token)) continue;
      const id = idOf(token);
      if (id === undefined) {
        throw new DataError(`${name}: entry ${entryNumber} is neither an object nor an id`, {
          hint: 'one JSON object or one id a line is read, an array of objects, and objects that hold leads (--lead-at)',
        });
      }
      ids.push({ id, body: undefined });
    }
    yield ids;
  }
}

/** A line that is an id as it is. What begins with a quote is JSON, or CSV that doubles the quotes in it. */
const bareId = /^(?!(?:null|true|false)$)[^\s,;"'<>{}[\]]+$/;
const csvId = /^"(?:[^"]|"")+"$/;

function idOf(token: string): string | undefined {
  if (bareId.test(token)) return token;
  const value = jsonIn(token);
  if (typeof value === 'string' && value !== '') return value;
  return value === undefined && csvId.test(token) ? token.slice(1, -1).replaceAll('""', '"') : undefined;
}

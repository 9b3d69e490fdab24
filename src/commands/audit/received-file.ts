import { stat } from 'node:fs/promises';
import { leadsInBody, type ReceivedSide } from '../../audit/received-leads.ts';
import { type FiledLead, LeadDatabase } from '../../audit/temporary-lead-database.ts';
import { allClasses, type FindingClass } from '../../audit/classify-lead.ts';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { bufferOf, compact } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/identified-record.ts';
import { idFieldNamed } from '../../lead/id-field.ts';
import type { LeadAt } from '../../lead/read-leads.ts';
import { relativeTime } from '../../output/table.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { chunksOf, nameOf, objectsIn, scannedObject } from '../send/lead-file.ts';
import { idsIn, looksInto } from './bare-ids.ts';

/** The received side, open. */
export interface OpenedReceived extends ReceivedSide {
  /** For messages, such as `the inbox /home/x/inbox.db`. */
  readonly name: string;
  /** Where `--take-in` stores leads; undefined where it is not asked for. */
  readonly store?: Pick<Inbox, 'take' | 'lookUp'> | undefined;
  close(): Promise<void>;
}

/** A file that is older than this is worth a word, ms. */
const oldMs = 3_600_000;

/** Of these classes a bare id says nothing, nor does it show that a lead should not be there. */
const untoldByIds = allClasses.filter((kind) => kind !== 'missing' && kind !== 'unsettled');

/**
 * `--received FILE`, `-` for stdin: an application's own leads, or their ids, read into a temporary database. Throws a
 * `DataError` for a file that cannot be read, for what is neither JSON nor ids, and for objects without any lead.
 */
export async function openReceivedFile(
  file: string,
  leadAt: LeadAt,
  context: Context,
): Promise<OpenedReceived> {
  const { messages } = context;
  // Before it is read: it may be written to meanwhile, or replaced.
  const writtenAt = await lastWrite(file, context);
  const name = nameOf(file);
  const database = await LeadDatabase.open();
  let undecidable: readonly FindingClass[] = ['refused', 'pending', 'late'];
  try {
    if (await read(file, database, leadAt, context)) {
      undecidable = untoldByIds;
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

/** Whether the file holds ids alone. */
async function read(
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
  const { form, chunks } = await looksInto(chunksOf(file, context));
  const progress = showProgress(status, clock);
  let withoutId = 0;
  let repeated = 0;
  const add = (found: readonly FiledLead[]): void => {
    repeated += found.length - database.add(found);
    progress.update(database.size, undefined);
  };
  try {
    if (form !== 'objects') {
      for await (const ids of idsIn(chunks, form, name)) add(ids.map((id) => ({ id, body: undefined })));
    } else {
      let nth = 0;
      for await (const objects of objectsIn(chunks, name)) {
        const found = objects.map((object) => leadsIn(object, (nth += 1), name, { leadAt, idNames }));
        withoutId += found.flat().filter(({ id }) => id === undefined).length;
        add(found.flat().flatMap(({ id, body }) => (id === undefined ? [] : [{ id, body }])));
      }
    }
  } finally {
    progress.clear();
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record', 'records');
    if (database.size === 0) {
      throw new DataError(`no lead was found in ${name}: ${records} without a usable id`, {
        hint: "--lead-at POINTER says where the leads are, such as /data/leads; 'leads config set api.id FIELD' how their id is called",
      });
    }
    messages.warn(`${records} of ${file} without a usable id cannot be compared`);
  }
  if (repeated > 0) {
    const ids = counted(repeated, 'lead of', 'leads of');
    messages.note('repeated', `${ids} ${file} came before in it: of each id the first is compared`);
  }
  return form !== 'objects';
}

interface Reading {
  readonly leadAt: LeadAt;
  /** Fields that may be the id: the first that is usable counts. */
  readonly idNames: readonly string[];
}

/** The leads of an object: itself, or what is in it where it is an envelope. */
function leadsIn(
  object: Buffer,
  nth: number,
  name: string,
  { leadAt, idNames }: Reading,
): readonly { readonly id: string | undefined; readonly body: Uint8Array }[] {
  const { id, createdAt, category } = scannedObject(object, nth, name);
  const ownId = idAmong(object, id, idNames);
  const isLead = ownId !== undefined && (ownId !== id || (createdAt ?? category) !== undefined);
  if (leadAt === 'auto' && isLead) return [{ id: ownId, body: object }];
  const leads = idNames
    .map((idName) => leadsInBody(object, { leadAt, idField: idFieldNamed(idName) }))
    .find(({ length }) => length > 0);
  if (leads === undefined) return [{ id: undefined, body: object }];
  return leads.map((body) => {
    const plain = scannedObject(bufferOf(body), nth, name).id;
    return { id: idAmong(body, plain, idNames), body };
  });
}

/** `plain`: the field `id`. */
function idAmong(
  body: Uint8Array,
  plain: string | undefined,
  idNames: Reading['idNames'],
): string | undefined {
  for (const idName of idNames) {
    const id = idName === 'id' ? plain : identifiedRecord(bufferOf(compact(body)), 0, idName).id;
    if (id !== undefined) return id;
  }
  return undefined;
}

/** What was created later cannot be in it. Undefined for what is no file, or cannot be read. */
async function lastWrite(file: string, { clock, messages }: Context): Promise<number | undefined> {
  if (file === '-') return undefined;
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const now = clock.now();
  if (now - found.mtimeMs > oldMs) {
    const age = relativeTime(found.mtimeMs, now);
    messages.note('written', `${file} was written ${age}: leads created since then are not counted`);
  }
  return found.mtimeMs;
}

import { stat } from 'node:fs/promises';
import { LeadDatabase } from '../../audit/received/lead-database.ts';
import type { Context } from '../../context.ts';
import { bufferOf } from '../../json/bytes.ts';
import { compact } from '../../json/compact.ts';
import { identifiedRecord } from '../../json/element/identified-record.ts';
import { relativeTime } from '../../output/table/relative-time.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { leadsOfFile } from '../send/source/lead-file.ts';
import type { OpenedReceived } from './opened-received.ts';

/** A file that is older than this is worth a word, ms. */
const oldMs = 3_600_000;

/**
 * `--received FILE`, `-` for stdin: an application's own leads, read into a temporary database. Throws a `DataError` for a
 * file that cannot be read, and for what is no JSON.
 */
export async function openReceivedFile(file: string, context: Context): Promise<OpenedReceived> {
  const { signal, messages } = context;
  // Before it is read: it may be written to meanwhile, or replaced.
  const writtenAt = await lastWrite(file, context);
  const database = await LeadDatabase.open();
  try {
    await read(file, database, context);
    signal.throwIfAborted();
  } catch (error) {
    await database.close();
    throw error;
  }
  const name = file === '-' ? 'stdin' : file;
  if (database.size === 0) messages.warn(`${name} holds no lead`);
  return {
    name,
    leads: database,
    untold: ['refused', 'pending', 'late'],
    hasTimes: false,
    writtenAt,
    rejections: () => Promise.resolve(new Map()),
    close: () => database.close(),
  };
}

async function read(file: string, database: LeadDatabase, context: Context): Promise<void> {
  const { status, clock, messages } = context;
  const { id: idName } = (await context.settings()).dialect;
  const progress = showProgress(status, clock);
  let withoutId = 0;
  let repeated = 0;
  try {
    for await (const batch of leadsOfFile(file, context)) {
      const leads = batch.flatMap(({ leadId, body }) => {
        const id = namedId(body, idName) ?? leadId;
        return id === undefined ? [] : [{ id, body }];
      });
      withoutId += batch.length - leads.length;
      repeated += leads.length - database.add(leads);
      progress.update(database.size, undefined);
    }
  } finally {
    progress.clear();
  }
  if (withoutId > 0) {
    const records = counted(withoutId, 'record', 'records');
    messages.warn(`${records} of ${file} without a usable id cannot be compared`);
  }
  if (repeated > 0) {
    const ids = counted(repeated, 'lead of', 'leads of');
    messages.note('repeated', `${ids} ${file} came before in it: of each id the first is compared`);
  }
}

/** In an export of the service's own records the id has the name that the dialect says. */
const namedId = (body: Uint8Array, idName: string | undefined): string | undefined =>
  idName === undefined ? undefined : identifiedRecord(bufferOf(compact(body)), 0, idName).id;

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

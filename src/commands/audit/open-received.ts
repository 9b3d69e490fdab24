import { describeWarning } from '../../messages/command-line.ts';
import { stat } from 'node:fs/promises';
import { LeadDatabase } from '../../audit/temporary-lead-database.ts';
import { type ReceivedSide, rejectionsIn } from '../../audit/received-leads.ts';
import type { Context } from '../../context.ts';
import { ConfigError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { isInboxThere, locationText, openInbox, openInboxReader } from '../../inbox/open-inbox.ts';
import { bufferOf, compact } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/lead-reader.ts';
import { relativeTime } from '../../output/table.ts';
import { counted, showProgress } from '../../output/terminal/progress.ts';
import { leadPlaceOf } from '../flags/lead-at.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { leadsOfFile } from '../send/lead-file.ts';
import type { AuditCommandOptions } from './options.ts';

/** Throws a `ConfigError` where nothing was ever received: everything would be missing. */
export async function openReceived(options: AuditCommandOptions, context: Context): Promise<OpenedReceived> {
  if (options.received !== undefined) return openReceivedFile(options.received, context);
  const settings = await context.settings();
  const location = await resolveInbox(options, settings, context);
  if (!isInboxThere(location)) {
    throw new ConfigError(
      `there is no inbox at ${locationText(location)}, so there is nothing to compare with`,
      {
        hint: "'leads listen' makes it; name another one with --inbox FILE, or an export of your application with --received FILE",
      },
    );
  }
  const { clock, pid, messages } = context;
  const writable = options.takeIn
    ? await openInbox({ location, clock, pid, warn: (found) => messages.warn(describeWarning(found)) })
    : undefined;
  const inbox = writable ?? (await openInboxReader({ location, clock }));
  return {
    name: `the inbox ${locationText(location)}`,
    leads: inbox,
    store: writable,
    undecidable: [],
    hasTimes: true,
    rejections: () => rejectionsIn(inbox, leadPlaceOf(settings).leadAt ?? 'auto'),
    close: () => inbox.close(),
  };
}

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
    undecidable: ['refused', 'pending', 'late'],
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

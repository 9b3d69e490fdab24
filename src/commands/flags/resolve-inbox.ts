import { resolve } from 'node:path';
import { ownInbox } from '../../config/directories.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Context } from '../../context.ts';
import { ConfigError, LeadNotFoundError, noteText, type Problem, UsageError } from '../../errors.ts';
import { shellWord } from '../../front.ts';
import type { Inbox, InboxReader } from '../../inbox/inbox.ts';
import {
  type InboxLocation,
  type InboxOptions,
  missingInbox,
  openInbox,
  openInboxReader,
} from '../../inbox/open-inbox.ts';
import { DatabaseUnavailableError } from '../../inbox/postgres/database-errors.ts';
import { readSecrets } from './flag-values.ts';
import type { InboxFlags } from './shared-flags.ts';

type InboxContext = Pick<Context, 'env' | 'platform' | 'paths' | 'stdin' | 'messages'>;

/** Whether a flag or `LEADS_INBOX` names an inbox; otherwise it is the profile's. */
export const isInboxNamed = ({ inbox }: InboxFlags, env: Context['env']): boolean =>
  (inbox ?? inEnvironment(env)) !== undefined;

/**
 * The inbox that `--inbox` or `LEADS_INBOX` names, or the profile's own in the data directory. Throws a `ConfigError` for a
 * URL that is not right.
 */
export async function resolveInbox(
  flags: InboxFlags,
  { profile }: Pick<Settings, 'profile'>,
  context: InboxContext,
): Promise<InboxLocation> {
  const { env, paths, messages } = context;
  const place = flags.inbox ?? inEnvironment(env);
  if (place === undefined) return ownInbox(profile, paths);
  const file = place.startsWith('@') ? place.slice(1) : undefined;
  const pathOrUrl = file === undefined ? place : await urlOfFile(file, context);
  if (pathOrUrl === ':memory:') return pathOrUrl;
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(pathOrUrl) ?? [];
  if (scheme === undefined) return resolve(pathOrUrl);
  if (!/^postgres(ql)?$/i.test(scheme)) {
    // The URL is not quoted, since it may hold a password.
    const message = `${flags.inbox === undefined ? 'LEADS_INBOX' : '--inbox'} is a URL of ${scheme}://`;
    const hint = 'it must be a file, :memory: or postgres://HOST/DATABASE';
    throw flags.inbox === undefined ? new ConfigError(message, { hint }) : new UsageError(message, { hint });
  }
  const { databaseLocation } = await import('../../inbox/postgres/database-location.ts');
  const warn = (warning: Problem): void => messages.warn(noteText(warning));
  const location = { ...databaseLocation(pathOrUrl, { env, platform: context.platform, warn }), file };
  if (file === undefined && flags.inbox !== undefined && location.url.password !== undefined) {
    messages.note(
      'inbox-password',
      'the password in --inbox can be seen by other users of this machine: --inbox @FILE, LEADS_INBOX and ~/.pgpass hide it',
    );
  }
  return location;
}

/**
 * The environment for programs that are started. It lacks the variables that give the password of this inbox: a database whose
 * URL is in a file, or holds no password, takes it from `PGPASSWORD` or from the file of `PGPASSFILE`.
 */
export function withoutInboxPassword({ inbox }: InboxFlags, env: Context['env']): Context['env'] {
  const place = inbox ?? inEnvironment(env) ?? '';
  const isDatabase = /^(@|postgres(ql)?:\/\/)/i.test(place);
  const holdsPassword = /^\w+:\/\/[^/@]*:[^/@]+@/.test(place);
  if (!isDatabase || holdsPassword) return env;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^PGPASS(WORD|FILE)$/.test(name)));
}

/** The flags that name the same inbox, for a command line in a message; they start with a space. */
export function inboxFlagsText({ inbox }: InboxFlags, location: string): string {
  if (inbox === undefined) return '';
  // The location has no password, which the flag may have.
  return ` --inbox ${shellWord(/^postgres(ql)?:/i.test(inbox) ? location : inbox)}`;
}

const inEnvironment = (env: Context['env']): string | undefined => env['LEADS_INBOX']?.trim() || undefined;

async function urlOfFile(file: string, context: Pick<Context, 'stdin'>): Promise<string> {
  const [secret] = await readSecrets([file], context);
  const url = secret?.reveal().trim() ?? '';
  if (/^postgres(ql)?:\/\//i.test(url)) return url;
  throw new ConfigError(
    `--inbox: ${file === '-' ? 'stdin' : file} does not hold a URL such as postgres://HOST/DATABASE`,
  );
}

interface Missing {
  /** Gets the sentence that nothing was received yet, which is said by default. It may throw. */
  readonly ifNoneYet?: (message: string) => void;
}

/** For a command that looks for a certain lead. */
export const failIfNoneYet: Missing = {
  ifNoneYet(message) {
    throw new LeadNotFoundError(message, { hint: listenMakesIt });
  },
};

/**
 * Reads the inbox and closes it. Throws a `ConfigError` if it is missing and a person named it. Returns undefined if it is the
 * profile's own, and was not made yet.
 */
export async function withInboxReader<T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: InboxReader) => Promise<T>,
  { ifNoneYet }: Missing = {},
): Promise<T | undefined> {
  const location = await existingLocation(flags, context, ifNoneYet);
  if (location === undefined) return undefined;
  return useAndClose(await openInboxReader({ location, clock: context.clock }), use);
}

/** The same for a command that writes. */
export async function withInbox<T>(
  flags: InboxFlags,
  context: Context,
  use: (inbox: Inbox) => Promise<T>,
  { ifNoneYet, ...inboxOptions }: Partial<InboxOptions> & Missing = {},
): Promise<T | undefined> {
  const location = await existingLocation(flags, context, ifNoneYet);
  if (location === undefined) return undefined;
  return useAndClose(await openInbox({ location, clock: context.clock, ...inboxOptions }), use);
}

async function existingLocation(
  flags: InboxFlags,
  context: Context,
  ifNoneYet: (message: string) => void = (message) => context.messages.say(message),
): Promise<InboxLocation | undefined> {
  const location = await resolveInbox(flags, await context.settings(), context);
  const missing = missingInbox(location);
  if (missing === undefined) return location;
  if (isInboxNamed(flags, context.env)) throw missingError(missing);
  ifNoneYet(`nothing was received yet: ${missing}`);
  return undefined;
}

const listenMakesIt = "'leads listen' makes it";

const missingError = (missing: string, hint = listenMakesIt): ConfigError =>
  new ConfigError(missing, { hint });

export function rejectMissing(location: InboxLocation, hint?: string): void {
  const missing = missingInbox(location);
  if (missing !== undefined) throw missingError(missing, hint);
}

async function useAndClose<Opened extends InboxReader, T>(
  inbox: Opened,
  use: (inbox: Opened) => Promise<T>,
): Promise<T> {
  try {
    return await use(inbox);
  } finally {
    await inbox.close();
  }
}

/** The pause between two tries doubles up to the longest, so that a receiver is ready within seconds of its database. */
const firstPauseMs = 250;
const longestPauseMs = 2000;

type Warn = (warning: Problem) => void;

/**
 * The work of a command while it waits for its database. `message` completes the message that it waits; `begin` starts the work,
 * which may ask why the database is not there, and resolves to the function that ends it.
 */
interface Meanwhile {
  readonly message: string;
  readonly begin: (whyNot: () => Promise<string>) => Promise<() => Promise<void>>;
}

/**
 * Opens an inbox whose database may be started later, and waits for it unless its URL says `wait=0`. Until the inbox is open, a
 * warning is printed once, however often opening is tried. Throws a failure that waiting cannot mend, and the signal's reason.
 */
export async function openOnceThere<T extends { close(): Promise<void> }>(
  location: InboxLocation,
  open: (warn: Warn) => Promise<T>,
  { clock, messages, signal }: Pick<Context, 'clock' | 'messages' | 'signal'>,
  meanwhile?: Meanwhile,
): Promise<T> {
  const warn: Warn = (warning) => messages.warn(noteText(warning));
  if (typeof location === 'string' || !location.url.isWaitedFor) return open(warn);
  const printedKinds = new Set<string>();
  let isOpen = false;
  const tryOpening = (): Promise<T | DatabaseUnavailableError> =>
    open((warning) => {
      if (isOpen || !printedKinds.has(warning.kind)) warn(warning);
      printedKinds.add(warning.kind);
    }).catch(returnUnavailable);
  let result = await tryOpening();
  if (result instanceof DatabaseUnavailableError) {
    let why = result;
    messages.warn(`waits for the database${meanwhile?.message ?? ''}: ${why.message}`);
    const endMeanwhile = await meanwhile?.begin(() => Promise.resolve(why.message));
    try {
      let pauseMs = firstPauseMs;
      while (result instanceof DatabaseUnavailableError) {
        why = result;
        await clock.sleep(pauseMs, signal);
        pauseMs = Math.min(2 * pauseMs, longestPauseMs);
        result = await tryOpening();
      }
      messages.say('the database answers');
    } finally {
      await endMeanwhile?.().catch(async (error: unknown) => {
        if (!(result instanceof DatabaseUnavailableError)) await result.close();
        throw error;
      });
    }
  }
  isOpen = true;
  return result;
}

function returnUnavailable(error: unknown): DatabaseUnavailableError {
  if (error instanceof DatabaseUnavailableError) return error;
  throw error;
}

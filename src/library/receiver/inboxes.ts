import { ConfigError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { RedactDelivery } from '../../inbox/inbox-options.ts';
import type { Clock } from '../../time/clock.ts';

/** What a receiver needs of its inbox. An object of your own must keep the promises that each method states. */
export type ReceiverInbox = Pick<
  Inbox,
  'take' | 'reject' | 'settle' | 'release' | 'lease' | 'unsettled' | 'list' | 'close'
>;

/** What an inbox has to know of the receiver in front of it. */
export interface InboxRequirements {
  /** Names under which it keeps who has had a lead: here the one of `onLead`. */
  readonly targets: readonly string[];
  /** How long a lease on a lead holds when its receiver goes away, in milliseconds. */
  readonly leaseMs: number;
  /** How long a nonce is good for one body only, in milliseconds. */
  readonly nonceLifetimeMs: number;
  /** What may be stored of a path and of headers: everything but credentials. */
  readonly redact: RedactDelivery;
  readonly clock: Clock;
  /** Says what the operator has to know of the store. */
  readonly warn: (text: string) => void;
}

/** An inbox that the receiver opens, and closes in the end. */
export interface InboxOpener {
  /** Rejects with a `ConfigError` or an `OutputError` when it cannot be opened. */
  open(requirements: InboxRequirements): Promise<ReceiverInbox>;
}

/** How a database is reached; the environment and the password file of its user are not read. */
export interface PostgresInboxOptions {
  /** Where the URL holds none, and before `passwordFile`. */
  readonly password?: string | undefined;
  /** Path of a file in the format of `.pgpass`, which nobody else may read. */
  readonly passwordFile?: string | undefined;
  /** `sslmode=disable` in the URL is taken for any host, not only for this machine. Default false. */
  readonly inboxInsecure?: boolean | undefined;
}

const opener = (location: string): InboxOpener => ({
  async open(requirements) {
    const { openInbox } = await import('../../inbox/open-inbox.ts');
    return openInbox({ ...requirements, location, pid: pid() });
  },
});

// Importing node:process reads all of its properties, and so opens the standard streams of the application.
// eslint-disable-next-line no-restricted-globals
const pid = (): number => process.pid;

/**
 * A file on this machine, made where there is none (0600). Several processes may share it. `leads inbox list --inbox PATH`
 * shows what is in it.
 */
export function fileInbox(path: string): InboxOpener {
  // Not quoted: a password may stand in it.
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) {
    throw new ConfigError('fileInbox was given a URL', { hint: 'a database is postgresInbox(url)' });
  }
  if (path === '' || path === ':memory:') throw new ConfigError(`'${path}' is no path of a file`);
  return opener(path);
}

/** Lost with the process: for tests, and where the sender delivers again what was not handled. */
export const memoryInbox = (): InboxOpener => opener(':memory:');

/**
 * A PostgreSQL database (14 or newer) that receivers on many machines share: one lead is accepted once among all of them.
 * The URL is of libpq's form, and `?schema=` names the schema, by default `leads`, which `leads inbox migrate` makes. Beyond
 * this machine the server's certificate is verified unless `sslmode` says less. Throws a `ConfigError` for what is no such
 * URL; what is wrong inside of it is the error of `ready`.
 */
export function postgresInbox(
  url: string | URL | undefined,
  options: PostgresInboxOptions = {},
): InboxOpener {
  const text = url === undefined ? '' : String(url);
  // Not quoted: a password may stand in it.
  if (!/^postgres(ql)?:\/\//i.test(text)) {
    throw new ConfigError('postgresInbox was given no URL of a PostgreSQL database', {
      hint: 'such as postgres://HOST/DATABASE; is the environment variable set that it comes from?',
    });
  }
  return {
    async open(requirements) {
      const { openDatabaseInbox } = await import('./open-database-inbox.ts');
      return openDatabaseInbox(text, options, { ...requirements, pid: pid() });
    },
  };
}

import { ConfigError } from '../../errors.ts';
import type { InboxWarning } from '../../inbox/problems.ts';
import { requireKnownOptions } from '../webhook/option-fault.ts';
import type { OptionNames } from '../webhook/option-names.ts';
import type { Opening } from './open-database-inbox.ts';
import type { InboxOpener, PostgresInboxOptions, ReceiverInbox } from './receiver-options.ts';

/** Says what is wrong in the words of an application. */
const opener = (open: (opening: Opening) => Promise<ReceiverInbox>): InboxOpener => ({
  async open(requirements) {
    const [{ applicationWords, forApplication }, { messageFor, warningOf }] = await Promise.all([
      import('../../messages/application.ts'),
      import('../../messages/find-message.ts'),
    ]);
    const warn = (found: InboxWarning): void => requirements.warn(warningOf(found, applicationWords));
    try {
      return await open({ ...requirements, warn, pid: pid() });
    } catch (error) {
      throw forApplication(error, messageFor);
    }
  },
});

const located = (location: string): InboxOpener =>
  opener(async (opening) => {
    const { openInbox } = await import('../../inbox/open-inbox.ts');
    return openInbox({ ...opening, location });
  });

// Importing node:process reads all of its properties, and so opens the standard streams of the application.
// eslint-disable-next-line no-restricted-globals
const pid = (): number => process.pid;

/**
 * A file on this machine, made where there is none (0600). Several processes may share it. `leads inbox list --inbox PATH`
 * shows what is in it.
 */
export function fileInbox(path: string | undefined): InboxOpener {
  // Null in JavaScript.
  if (typeof path !== 'string' || path === '' || path === ':memory:') {
    throw new ConfigError(`'${String(path)}' is no path of a file`, {
      hint: 'is the environment variable set that it comes from?',
    });
  }
  // Not quoted: a password may stand in it.
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) {
    throw new ConfigError('fileInbox was given a URL', { hint: 'a database is postgresInbox(url)' });
  }
  return located(path);
}

/** Lost with its receiver: for tests, and where the sender delivers again what was not handled. */
export const memoryInbox = (): InboxOpener => located(':memory:');

const databaseOptions: OptionNames<PostgresInboxOptions> = {
  password: true,
  passwordFile: true,
  inboxInsecure: true,
};

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
  requireKnownOptions(options, databaseOptions, 'postgresInbox');
  const text = url === undefined ? '' : String(url);
  // Not quoted: a password may stand in it.
  if (!/^postgres(ql)?:\/\//i.test(text)) {
    throw new ConfigError('postgresInbox was given no URL of a PostgreSQL database', {
      hint: 'such as postgres://HOST/DATABASE; is the environment variable set that it comes from?',
    });
  }
  return opener(async (opening) => {
    const { openDatabaseInbox } = await import('./open-database-inbox.ts');
    return openDatabaseInbox(text, options, opening);
  });
}

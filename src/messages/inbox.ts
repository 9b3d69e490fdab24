import type {
  DatabaseProblem,
  FileChange,
  InboxProblem,
  InboxWarning,
  NotOverwritten,
  OutOfReach,
  StoreFault,
  WeakSslMode,
} from '../inbox/problems.ts';
import { type Message, messageIn, type Messages, updateLeads, type Words } from './message.ts';

const migrated = (words: Words): string =>
  `'${words.command('inbox migrate')}' with a role that may create tables makes it`;
const otherFile = (words: Words): string => `name another file with ${words.option('inbox')}`;
/** The shell of SQLite reads around damaged pages. */
const saveDamaged = (path: string): string =>
  `'sqlite3 ${path} .recover | sqlite3 NEW' saves what it still holds`;
const passwordPlaces = (words: Words): string => `it is looked for in the URL, ${words.databasePassword}`;
const encoding = 'in user and password, write @ as %40, : as %3A, / as %2F and ? as %3F';
const namesRights = (): string => 'docs/fleet.md names the rights that a receiver needs';
const isItRunning = (): string => 'is PostgreSQL running there?';

const changes = { gone: 'deleted or moved', replaced: 'replaced' } as const;
const changeOf = ({ path, change }: FileChange): string => `${path} was ${changes[change]}`;

const around =
  (what: string) =>
  ({ inbox, fault }: { readonly inbox: string; readonly fault: StoreFault }): Message => {
    const { message, hint } = messageOfFault(fault);
    return { message: `${what} the inbox ${inbox}: ${message}`, hint };
  };

const storeFaults: Messages<Exclude<StoreFault, DatabaseProblem>> = {
  'sqlite-full': () => ({
    message: 'no space left on the device',
    hint: () => 'free some space; nothing that was acknowledged is lost',
  }),
  'sqlite-locked': () => 'another process holds it locked',
  'sqlite-read-only': () => ({
    message: 'it is read-only',
    hint: (words) => `make the file and its directory writable, or name another ${words.option('inbox')}`,
  }),
  'sqlite-no-inbox': () => ({
    message: 'it is not an inbox database',
    hint: (words) => `move it away, or name another ${words.option('inbox')}`,
  }),
  'sqlite-damaged': ({ path }) => ({
    message: 'the database is damaged',
    hint: () => saveDamaged(path),
  }),
  'sqlite-io-error': () => 'I/O error',
  'sqlite-not-opened': () => ({
    message: 'it cannot be opened',
    hint: () => 'check that the directory exists and is writable',
  }),
  'postgres-disk-full': () => ({
    message: 'no space left on the disk of the database',
    hint: () => 'free some space; nothing that was acknowledged is lost',
  }),
  'postgres-lacks-resource': () => 'the database lacks a resource',
  'postgres-read-only': () => ({
    message: 'the database is read-only',
    hint: () => 'name the host that takes writes, as after a failover',
  }),
  'postgres-locked': () => 'another transaction holds it locked',
  'postgres-too-slow': () => 'the database took too long',
  'postgres-ended-connection': () => 'the database ended the connection',
  'postgres-forbidden': ({ detail }) => ({
    message: detail,
    hint: namesRights,
  }),
  'postgres-cut': () => 'the connection was cut',
  'store-other-fault': ({ detail }) => detail,
  'store-file-changed': (found) => ({
    message: `${changeOf(found)} while in use`,
    hint: () => 'start leads again to use what is there now',
  }),
};

const socketFaults = {
  'connect time-out': (seconds: number) => `no answer in ${seconds} s`,
  'no TLS': () => 'it does not offer TLS',
  closed: () => 'it closed the connection',
  'answer time-out': (seconds: number) => `a statement was not answered in ${seconds} s`,
  'unknown authentication': () => 'it asks for an authentication other than a password (SCRAM-SHA-256, MD5)',
  'unproven server': () => 'it does not prove that it knows the password',
} as const;

const unreachable = {
  refused: { message: 'connection refused', hint: isItRunning },
  'no socket': { message: 'there is no socket', hint: isItRunning },
  'name not found': { message: 'the name is not found', hint: () => 'check its spelling, and DNS' },
} as const;

const certificates = {
  name: [
    'a certificate for another name',
    'name the host as the certificate does, or use sslmode=verify-ca, which does not look at the name',
  ],
  expired: ['a certificate that has expired', 'renew it on the server'],
  authority: [
    'a certificate of an authority that is not known',
    "name its authority's certificate: sslrootcert=/path/to/ca.pem in the URL",
  ],
} as const;

const urlOf = (what: string, hint?: string): Message => ({
  message: `the URL of the database ${what}`,
  hint: hint === undefined ? undefined : () => hint,
});

const databaseMessages: Messages<DatabaseProblem> = {
  'database-socket-failed': ({ fault, seconds }) => socketFaults[fault](seconds),
  'database-unreachable': ({ host, why }) => {
    const { message, hint }: Message =
      typeof why === 'string'
        ? unreachable[why]
        : 'detail' in why
          ? { message: why.detail }
          : messageOfFault(why);
    return { message: `the database on ${host} cannot be reached: ${message}`, hint };
  },
  'database-without-tls': ({ host }) => ({
    message: `the database on ${host} does not offer TLS`,
    hint: () =>
      'turn it on there (ssl = on), or add sslmode=disable&insecure=true to the URL, and leads and the password travel unencrypted',
  }),
  'database-password-wrong': ({ host, user }) => ({
    message: `the database on ${host} does not take the password of user '${user}'`,
    hint: passwordPlaces,
  }),
  'database-password-missing': ({ host, user }) => ({
    message: `the database on ${host} asks for a password of user '${user}', and none was found`,
    hint: passwordPlaces,
  }),
  'database-user-rejected': ({ host, user, detail }) => ({
    message: `the database on ${host} does not let user '${user}' in: ${detail}`,
    hint: () => 'pg_hba.conf of the server says who may connect from where, and whether with TLS',
  }),
  'database-is-another': () => ({
    message: 'the URL differs in more than user and password, and a receiver stays with its inbox',
    hint: () => 'start it again for another one',
  }),
  'database-not-there': ({ host, database }) => ({
    message: `the database on ${host} has no database '${database}'`,
    hint: () => `make it: createdb ${database}`,
  }),
  'database-forbidden': ({ host, user, database }) => ({
    message: `the database on ${host} does not let user '${user}' connect to '${database}'`,
    hint: () => 'GRANT CONNECT ON DATABASE to the role of the inbox',
  }),
  'database-has-no-connection-left': ({ host, detail }) => ({
    message: `the database on ${host} has no connection left: ${detail}`,
    hint: () => 'raise max_connections there, or put a pooler such as pgbouncer before it',
  }),
  'database-certificate-rejected': ({ host, why }) => {
    const [what, hint] = certificates[why];
    return { message: `the database on ${host} has ${what}`, hint: () => hint };
  },
  'database-tls-failed': ({ host, detail }) => `the database on ${host}: TLS failed: ${detail}`,
  'database-unfit': ({ host, isStandby, asked }) => ({
    message: `the database on ${host} is ${isStandby ? 'a standby' : 'read-only'}`,
    hint: () => `target_session_attrs=${asked} in the URL asks for another`,
  }),
  'database-hosts-unusable': ({ problems }) => {
    const messages = problems.map(messageOfFault);
    const each = messages.map(({ message }) => message).join('; ');
    return {
      message: `none of the ${problems.length} hosts of the database can be used: ${each}`,
      hint: messages[0]?.hint,
    };
  },
  'database-turned-read-only': () => ({
    message: 'the database is read-only, as after a failover',
    hint: () => 'name all hosts in the URL, and target_session_attrs=read-write',
  }),
  'database-ended-connection': ({ detail }) => `the database ended the connection: ${detail}`,
  'database-connection-cut': () => 'the connection to the database was cut',
  'database-connections-in-use': ({ most, seconds }) =>
    `all ${most} connections to the database were in use for ${seconds} s`,
  'database-connections-closed': () => 'the connections to the database are closed',
  'database-file-unreadable': ({ parameter, path, detail }) =>
    `cannot read the ${parameter} of the database, ${path}: ${detail}`,
  'database-unencrypted': ({ host }) => ({
    message: `the connection to the database on ${host} would be unencrypted (sslmode=disable)`,
    hint: () =>
      'leave sslmode out of the URL, or add insecure=true to it on a network that nobody else is in',
  }),
  'database-url-of-other-kind': () => urlOf('does not start with postgres://'),
  'database-url-at-sign': () => urlOf('has an @ behind its hosts', encoding),
  'database-url-host': () =>
    urlOf(
      'names a host that cannot be read',
      `HOST, HOST:PORT or [IPV6]:PORT, several of them with commas; ${encoding}`,
    ),
  'database-url-encoding': ({ part }) =>
    urlOf(`is not well percent-encoded in its ${part}`, 'write % as %25'),
  'database-url-parameter-twice': ({ name }) => urlOf(`gives ${name} twice`),
  'database-url-parameter-unknown': ({ name, known }) =>
    urlOf(`has a parameter that is not known: ${name}`, `known are ${known.join(', ')}`),
  'database-url-certificate-without-key': () => urlOf('needs sslcert and sslkey together, or neither'),
  'database-url-port-count': ({ hosts, ports }) =>
    urlOf(`names ${hosts} hosts and ${ports} ports: one port for all, or one for each`),
  'database-url-port': () => urlOf('names a port that is not a number from 1 to 65535'),
  'database-url-without-user': () =>
    urlOf('names no user, and this process runs under none', 'write postgres://USER@HOST/DATABASE'),
  'database-url-schema': ({ name, mostBytes }) => ({
    message: `the inbox cannot be in a schema called '${name}'`,
    hint: () =>
      mostBytes === undefined
        ? 'PostgreSQL keeps such names for itself'
        : `PostgreSQL's names have at most ${mostBytes} bytes`,
  }),
  'database-url-weak-mode': ({ mode }) => ({
    message: `sslmode=${mode} in the URL of the database is no protection: it goes on unencrypted when that is offered`,
    hint: () => 'leave sslmode out, which is verify-full, or choose sslmode=require',
  }),
  'database-url-time-out': ({ seconds }) =>
    `connect_timeout=${seconds} in the URL of the database is not a number of seconds up to 9999`,
  'database-url-choice': ({ name, value, choices }) =>
    `${name}=${value} in the URL of the database is not one of ${choices.join(', ')}`,
};

const weaknesses: Readonly<Record<WeakSslMode, string>> = {
  disable: 'is UNENCRYPTED: leads and the password can be read on the way',
  require: 'is encrypted, but NOT VERIFIED: another machine could stand in for the database',
  'verify-ca':
    'is NOT VERIFIED BY NAME: any machine with a certificate of that authority could stand in for it',
};

const notOverwritten: Messages<NotOverwritten> = {
  'inbox-file-not-overwritten': ({ fault }) => {
    const { message, hint } = messageOfFault(fault);
    return {
      message: `the file could not be written anew: ${message}`,
      hint: fault.kind === 'sqlite-damaged' ? hint : undefined,
    };
  },
  'inbox-too-large-to-overwrite': () => 'it is too large to be written anew at a start',
  'inbox-log-not-emptied': () => 'its log could not be emptied: another process reads the inbox',
};

const inboxWarnings: Messages<InboxWarning> = {
  'inbox-file-lost': (found) =>
    `${changeOf(found)} while it was in use: every delivery is answered 503 until this receiver is restarted, ` +
    'and what was stored before is only in the file that is gone',
  'inbox-damaged': ({ inbox, detail }) => ({
    message: `the inbox ${inbox} is damaged (${detail}): leads in the damaged part are answered 503`,
    hint: () => `stop this receiver; then ${saveDamaged(inbox)}`,
    join: '; ',
  }),
  'inbox-holds-erased': ({ inbox, why }) => {
    const { message, hint }: Message = messageIn(notOverwritten, why) ?? { message: why.kind };
    return {
      message: `the inbox ${inbox} still holds a copy of what was erased: ${message}`,
      hint: hint ?? ((words) => `the next '${words.command('inbox erase')}' completes it`),
      join: '; ',
    };
  },
  'leads-may-be-stored': ({ leads }) =>
    `the database did not say whether it stored ${leads === 1 ? '1 lead' : `${leads} leads`}: answered 503, the repeat of one ` +
    "that was stored is a duplicate, its targets get it all the same, and no 'accepted' line was printed for it",
  'postgres-forbids-storing': ({ inbox, detail }) => ({
    message: `the database of ${inbox} does not let this role store deliveries (${detail}): they are answered 503`,
    hint: namesRights,
    join: '; ',
  }),
  'postgres-without-full-pages': ({ inbox }) =>
    `the database of ${inbox} has full_page_writes=off: a power cut may damage it`,
  'database-parameters-ignored': ({ names }) =>
    `${names.join(', ')} in the URL of the database has no effect here`,
  'postgres-logs-values': ({ inbox, settings }) => ({
    message: `the database of ${inbox} writes what people sent into its log: ${settings} is not off`,
    hint: () => 'set the lengths to 0 there, and pgaudit.log_parameter to off',
    join: '; ',
  }),
  'database-weakly-secured': ({ host, mode }) =>
    `the connection to the database on ${host} ${weaknesses[mode]} (sslmode=${mode}); verify-full is safe`,
  'password-file-ignored': ({ path, why, detail }) =>
    `the password file ${path} is ignored: ${ignored(why, detail)}`,
};

function ignored(why: 'no plain file' | 'others may read it' | 'unreadable', detail = ''): string {
  if (why === 'no plain file') return 'it is not a plain file';
  if (why === 'unreadable') return `it cannot be read (${detail})`;
  return "others may read it; make it private with 'chmod 0600'";
}

export const inboxMessages: Messages<InboxProblem | StoreFault> = {
  ...storeFaults,
  ...databaseMessages,
  ...inboxWarnings,
  ...notOverwritten,
  'inbox-cannot-store': around('cannot store in'),
  'inbox-cannot-read': around('cannot read'),
  'inbox-cannot-open': ({ inbox, fault }) => {
    const { message, hint } = around('cannot open')({ inbox, fault });
    return {
      message,
      hint: hint ?? ((words) => `name another place with ${words.option('inbox')} or LEADS_DATA_DIR`),
    };
  },
  'inbox-of-other-program': ({ inbox }) => ({
    message: `${inbox} is the database of another program, not an inbox`,
    hint: otherFile,
  }),
  'inbox-of-newer-version': ({ inbox }) => ({
    message: `the inbox ${inbox} was made by a newer version of leads`,
    hint: (words) => `${updateLeads}; or name another ${words.option('inbox')}`,
  }),
  'inbox-is-empty-database': ({ inbox }) => ({
    message: `${inbox} is an empty database, not an inbox`,
    hint: otherFile,
  }),
  'inbox-is-no-file': ({ inbox }) => `cannot open the inbox ${inbox}: it is not a regular file`,
  'inbox-not-there': ({ inbox }) => ({ message: `there is no inbox in ${inbox}`, hint: migrated }),
  'inbox-not-made': ({ inbox }) => ({
    message: `there is no inbox in ${inbox}, and this role may not make it`,
    hint: migrated,
  }),
  'postgres-too-old': ({ inbox, version }) => ({
    message: `the database of ${inbox} is PostgreSQL ${version}`,
    hint: () => 'version 14 or newer is needed',
  }),
  'postgres-without-fsync': ({ inbox }) => ({
    message: `the database of ${inbox} has fsync=off: a power cut would lose acknowledged leads`,
    hint: () => 'set fsync = on in postgresql.conf',
  }),
};

const messageOfFault = (fault: StoreFault): Message =>
  messageIn(inboxMessages, fault) ?? { message: fault.kind };

/** Of where an erasure does not reach. */
export const outOfReachTexts: Readonly<Record<OutOfReach, string>> = {
  snapshots: 'snapshots of the file system, and what it keeps of blocks that it freed',
  archives: 'archives of its write-ahead log, replicas, their logs and backups of the database',
  'rows-still-seen': 'rows that a transaction which was open meanwhile still sees, until a later VACUUM',
  'free-space':
    "free space in the database's own files, until it is used again or VACUUM FULL writes them anew",
  'rows-of-another-owner': 'its dead rows go with VACUUM, which only the owner of the tables may run',
  'rows-not-vacuumed': 'VACUUM failed: its dead rows go when the database runs it by itself',
};

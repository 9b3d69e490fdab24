import type { Problem } from '../errors.ts';

/** Why a store could not do what was asked, as its database says it. */
export type StoreFault =
  | { readonly kind: 'sqlite-full' | 'sqlite-locked' | 'sqlite-read-only' | 'sqlite-no-inbox' }
  | { readonly kind: 'sqlite-io-error' | 'sqlite-not-opened' | 'postgres-disk-full' }
  | { readonly kind: 'postgres-lacks-resource' | 'postgres-read-only' | 'postgres-locked' }
  | { readonly kind: 'postgres-too-slow' | 'postgres-ended-connection' | 'postgres-cut' }
  /** `detail`: in PostgreSQL's own words. */
  | { readonly kind: 'postgres-forbidden'; readonly detail: string }
  | { readonly kind: 'sqlite-damaged'; readonly path: string }
  /** `detail`: in the words of the system. */
  | { readonly kind: 'store-other-fault'; readonly detail: string }
  | ({ readonly kind: 'store-file-changed' } & FileChange)
  | DatabaseProblem;

/** What happened to a file of an open inbox; `gone` is one that was deleted or moved. */
export type FileChange = { readonly path: string; readonly change: 'gone' | 'replaced' };

/** What an inbox was asked that it cannot do. `inbox`: its path, or the URL of its database without password. */
export type InboxProblem =
  | { readonly kind: 'inbox-cannot-store'; readonly inbox: string; readonly fault: StoreFault }
  | { readonly kind: 'inbox-cannot-read'; readonly inbox: string; readonly fault: StoreFault }
  | { readonly kind: 'inbox-cannot-open'; readonly inbox: string; readonly fault: StoreFault }
  | { readonly kind: 'inbox-of-other-program'; readonly inbox: string }
  | { readonly kind: 'inbox-of-newer-version'; readonly inbox: string }
  | { readonly kind: 'inbox-is-empty-database'; readonly inbox: string }
  | { readonly kind: 'inbox-is-no-file'; readonly inbox: string }
  | { readonly kind: 'inbox-not-there'; readonly inbox: string }
  | { readonly kind: 'inbox-not-made'; readonly inbox: string }
  | { readonly kind: 'postgres-too-old'; readonly inbox: string; readonly version: string }
  | { readonly kind: 'postgres-without-fsync'; readonly inbox: string }
  | DatabaseProblem
  | NotOverwritten
  | InboxWarning;

/** Why what was deleted may still be read in the store's files. */
export type NotOverwritten =
  | { readonly kind: 'inbox-file-not-overwritten'; readonly fault: StoreFault }
  /** Left to who waits for it. */
  | { readonly kind: 'inbox-too-large-to-overwrite' }
  | { readonly kind: 'inbox-log-not-emptied' };

/** What the operator has to know of an inbox that works. */
export type InboxWarning =
  | ({ readonly kind: 'inbox-file-lost' } & FileChange)
  | { readonly kind: 'inbox-damaged'; readonly inbox: string; readonly detail: string }
  /** An erasure could not overwrite what it deleted, and neither could this opening. */
  | { readonly kind: 'inbox-holds-erased'; readonly inbox: string; readonly why: NotOverwritten }
  /** The answer to their COMMIT was lost. */
  | { readonly kind: 'leads-may-be-stored'; readonly leads: number }
  /** `detail`: in PostgreSQL's own words. */
  | { readonly kind: 'postgres-forbids-storing'; readonly inbox: string; readonly detail: string }
  | { readonly kind: 'postgres-without-full-pages'; readonly inbox: string }
  /** `settings`: the names of those that have it do so. */
  | { readonly kind: 'postgres-logs-values'; readonly inbox: string; readonly settings: string }
  | { readonly kind: 'database-parameters-ignored'; readonly names: readonly string[] }
  | { readonly kind: 'database-weakly-secured'; readonly host: string; readonly mode: WeakSslMode }
  | {
      readonly kind: 'password-file-ignored';
      readonly path: string;
      readonly why: 'no plain file' | 'others may read it' | 'unreadable';
      readonly detail?: string;
    };

export type WeakSslMode = 'disable' | 'require' | 'verify-ca';

/** Why a socket gave no answer. */
export type SocketFaultKind =
  'connect time-out' | 'no TLS' | 'closed' | 'answer time-out' | 'unknown authentication' | 'unproven server';

/** What is wrong with the connection to a database. `host`: host and port. */
export type DatabaseProblem =
  | { readonly kind: 'database-socket-failed'; readonly fault: SocketFaultKind; readonly seconds: number }
  | {
      readonly kind: 'database-unreachable';
      readonly host: string;
      readonly why:
        'refused' | 'no socket' | 'name not found' | { readonly detail: string } | DatabaseProblem;
    }
  | { readonly kind: 'database-without-tls'; readonly host: string }
  | { readonly kind: 'database-password-wrong'; readonly host: string; readonly user: string }
  | { readonly kind: 'database-password-missing'; readonly host: string; readonly user: string }
  | {
      readonly kind: 'database-user-rejected';
      readonly host: string;
      readonly user: string;
      readonly detail: string;
    }
  | { readonly kind: 'database-not-there'; readonly host: string; readonly database: string }
  | {
      readonly kind: 'database-forbidden';
      readonly host: string;
      readonly user: string;
      readonly database: string;
    }
  | { readonly kind: 'database-has-no-connection-left'; readonly host: string; readonly detail: string }
  | {
      readonly kind: 'database-certificate-rejected';
      readonly host: string;
      readonly why: 'name' | 'expired' | 'authority';
    }
  | { readonly kind: 'database-tls-failed'; readonly host: string; readonly detail: string }
  | {
      readonly kind: 'database-unfit';
      readonly host: string;
      readonly isStandby: boolean;
      readonly asked: string;
    }
  | { readonly kind: 'database-hosts-unusable'; readonly problems: readonly DatabaseProblem[] }
  | { readonly kind: 'database-turned-read-only' | 'database-connection-cut' }
  | { readonly kind: 'database-connections-closed' | 'database-is-another' }
  | { readonly kind: 'database-ended-connection'; readonly detail: string }
  | { readonly kind: 'database-connections-in-use'; readonly most: number; readonly seconds: number }
  | {
      readonly kind: 'database-file-unreadable';
      readonly parameter: string;
      readonly path: string;
      readonly detail: string;
    }
  | { readonly kind: 'database-unencrypted'; readonly host: string }
  | DatabaseUrlProblem;

export const isDatabaseProblem = (found: Problem): found is DatabaseProblem =>
  found.kind.startsWith('database-');

/** What is wrong with the URL of a database; nothing of it is quoted that may be a password. */
type DatabaseUrlProblem =
  | { readonly kind: 'database-url-of-other-kind' | 'database-url-at-sign' | 'database-url-host' }
  | { readonly kind: 'database-url-certificate-without-key' | 'database-url-port' }
  | { readonly kind: 'database-url-without-user' }
  | { readonly kind: 'database-url-encoding'; readonly part: string }
  | { readonly kind: 'database-url-parameter-twice'; readonly name: string }
  | {
      readonly kind: 'database-url-parameter-unknown';
      readonly name: string;
      readonly known: readonly string[];
    }
  | { readonly kind: 'database-url-port-count'; readonly hosts: number; readonly ports: number }
  | { readonly kind: 'database-url-schema'; readonly name: string; readonly mostBytes: number | undefined }
  | { readonly kind: 'database-url-weak-mode'; readonly mode: string }
  | { readonly kind: 'database-url-time-out'; readonly seconds: string }
  | {
      readonly kind: 'database-url-choice';
      readonly name: string;
      readonly value: string;
      readonly choices: readonly string[];
    };

/** Where the data of a store may also be, and where nothing can be erased from here. */
export type OutOfReach =
  'snapshots' | 'archives' | 'rows-still-seen' | 'free-space' | 'rows-of-another-owner' | 'rows-not-vacuumed';

import type { KindsOf, Problem } from '../errors.ts';

/** Why a store could not do what was asked, as its database says it. `detail`: in the words of PostgreSQL, or of the system. */
export type StoreFault =
  | { readonly kind: 'sqlite-full' | 'sqlite-locked' | 'sqlite-read-only' | 'sqlite-no-inbox' }
  | { readonly kind: 'sqlite-io-error' | 'sqlite-not-opened' | 'postgres-disk-full' }
  | { readonly kind: 'postgres-lacks-resource' | 'postgres-read-only' | 'postgres-locked' }
  | { readonly kind: 'postgres-too-slow' | 'postgres-ended-connection' | 'postgres-cut' }
  | KindsOf<{
      'postgres-forbidden': { detail: string };
      'sqlite-damaged': { path: string };
      'store-other-fault': { detail: string };
      'store-file-changed': FileChange;
    }>
  | DatabaseProblem;

/** A file of an open inbox changed; `gone` is one that was deleted or moved. */
export type FileChange = { readonly path: string; readonly change: 'gone' | 'replaced' };

/** An inbox was asked for something that it cannot do. `inbox`: its path, or the URL of its database without password. */
export type InboxProblem =
  | KindsOf<{
      'inbox-cannot-store': { inbox: string; fault: StoreFault };
      'inbox-cannot-read': { inbox: string; fault: StoreFault };
      'inbox-cannot-open': { inbox: string; fault: StoreFault };
      'inbox-of-other-program': { inbox: string };
      'inbox-of-newer-version': { inbox: string };
      'inbox-is-empty-database': { inbox: string };
      'inbox-is-no-file': { inbox: string };
      'inbox-not-there': { inbox: string };
      'inbox-not-made': { inbox: string };
      'postgres-too-old': { inbox: string; version: string };
      'postgres-without-fsync': { inbox: string };
    }>
  | DatabaseProblem
  | NotOverwritten
  | InboxWarning;

/** Why deleted data may still be read in the store's files. */
export type NotOverwritten = KindsOf<{
  'inbox-file-not-overwritten': { fault: StoreFault };
  /** Left to who waits for it. */
  'inbox-too-large-to-overwrite': unknown;
  'inbox-log-not-emptied': unknown;
}>;

/** The operator has to know this of an inbox that works. `detail`: in the words of the database, or of the system. */
export type InboxWarning = KindsOf<{
  'inbox-file-lost': FileChange;
  'inbox-damaged': { inbox: string; detail: string };
  /** An erasure could not overwrite what it deleted, and neither could this opening. */
  'inbox-holds-erased': { inbox: string; why: NotOverwritten };
  /** The answer to their COMMIT was lost. */
  'leads-may-be-stored': { leads: number };
  'postgres-forbids-storing': { inbox: string; detail: string };
  'postgres-without-full-pages': { inbox: string };
  /** `settings`: the names of those that have it do so. */
  'postgres-logs-values': { inbox: string; settings: string };
  'database-parameters-ignored': { names: readonly string[] };
  'database-weakly-secured': { host: string; mode: WeakSslMode };
  'password-file-ignored': { path: string; why: IgnoredFile; detail?: string };
}>;

export type IgnoredFile = 'no plain file' | 'others may read it' | 'unreadable';

export type WeakSslMode = 'disable' | 'require' | 'verify-ca';

/** Why a socket gave no answer. */
export type SocketFaultKind =
  'connect time-out' | 'no TLS' | 'closed' | 'answer time-out' | 'unknown authentication' | 'unproven server';

type Unreachable = 'refused' | 'no socket' | 'name not found' | { readonly detail: string } | DatabaseProblem;

/** Why a database cannot be connected to. `host`: host and port. */
export type DatabaseProblem =
  | KindsOf<{
      'database-socket-failed': { fault: SocketFaultKind; seconds: number };
      'database-unreachable': { host: string; why: Unreachable };
      'database-without-tls': { host: string };
      'database-password-wrong': { host: string; user: string };
      'database-password-missing': { host: string; user: string };
      'database-user-rejected': { host: string; user: string; detail: string };
      'database-not-there': { host: string; database: string };
      'database-forbidden': { host: string; user: string; database: string };
      'database-has-no-connection-left': { host: string; detail: string };
      'database-certificate-rejected': { host: string; why: 'name' | 'expired' | 'authority' };
      'database-tls-failed': { host: string; detail: string };
      'database-unfit': { host: string; isStandby: boolean; asked: string };
      'database-hosts-unusable': { problems: readonly DatabaseProblem[] };
      'database-ended-connection': { detail: string };
      'database-connections-in-use': { most: number; seconds: number };
      'database-file-unreadable': { parameter: string; path: string; detail: string };
      'database-unencrypted': { host: string };
    }>
  | { readonly kind: 'database-turned-read-only' | 'database-connection-cut' }
  | { readonly kind: 'database-connections-closed' | 'database-is-another' }
  | DatabaseUrlProblem;

export const isDatabaseProblem = (problem: Problem): problem is DatabaseProblem =>
  problem.kind.startsWith('database-');

/** Why the URL of a database cannot be read; nothing of it is quoted that may be a password. */
type DatabaseUrlProblem =
  | { readonly kind: 'database-url-of-other-kind' | 'database-url-at-sign' | 'database-url-host' }
  | { readonly kind: 'database-url-certificate-without-key' | 'database-url-port' }
  | KindsOf<{
      'database-url-without-user': unknown;
      'database-url-encoding': { part: string };
      'database-url-parameter-twice': { name: string };
      'database-url-parameter-unknown': { name: string; known: readonly string[] };
      'database-url-port-count': { hosts: number; ports: number };
      'database-url-schema': { name: string; mostBytes: number | undefined };
      'database-url-weak-mode': { mode: string };
      'database-url-time-out': { seconds: string };
      'database-url-choice': { name: string; value: string; choices: readonly string[] };
    }>;

/** The data of a store may also be there, where nothing can be erased from here. */
export type OutOfReach =
  'snapshots' | 'archives' | 'rows-still-seen' | 'free-space' | 'rows-of-another-owner' | 'rows-not-vacuumed';

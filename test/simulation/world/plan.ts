/** What happens to a world at a time; a plan without one of these is a plan as well. */
export type Happening = { readonly at: number } & (
  | {
      readonly kind: 'crash';
      readonly receiver: number;
      readonly point: CrashPoint;
      readonly how: 'kill' | 'power';
    }
  | { readonly kind: 'restart'; readonly receiver: number; readonly flags: readonly string[] }
  | {
      readonly kind: 'commit';
      readonly receiver: number;
      readonly when: 'before' | 'after';
      readonly code: CommitCode;
    }
  | { readonly kind: 'disk'; readonly code: 'ENOSPC' | 'EIO'; readonly forMs: number; readonly on: string }
  | { readonly kind: 'slow-disk'; readonly ms: number; readonly forMs: number }
  | {
      readonly kind: 'network';
      readonly fault: 'reset' | 'silent' | 'slow';
      readonly port: number;
      readonly forMs: number;
    }
  | { readonly kind: 'clock'; readonly receiver: number; readonly byMs: number }
  | {
      readonly kind: 'application';
      readonly answer: 'refuse' | 'error' | 'hang' | 'absent';
      readonly forMs: number;
    }
  | { readonly kind: 'command'; readonly exit: number | 'hang'; readonly forMs: number }
  | { readonly kind: 'rotate'; readonly how: 'rename' | 'remove' | 'truncate' }
  | { readonly kind: 'service'; readonly fault: ServiceFault; readonly forMs: number }
  | { readonly kind: 'operator'; readonly action: OperatorAction }
);

export type CrashPoint = 'idle' | 'before-commit' | 'after-commit' | 'forwarding';
export type CommitCode = 'SQLITE_FULL' | 'SQLITE_IOERR' | 'SQLITE_BUSY';
export type ServiceFault = 'down' | 'limited' | 'cut' | 'error-page' | 'repeats' | 'early-end' | 'slow';
export type OperatorAction = 'export' | 'audit' | 'repair' | 'retry' | 'erase' | 'prune' | 'list' | 'stats';

/** All that a seed decides before the world begins; each actor draws its own numbers of the seed. */
export interface Plan {
  readonly seed: number;
  /** Virtual time from the start until the faults end and the world becomes quiet, in milliseconds. */
  readonly lengthMs: number;
  /** How many receivers, each with its own flags. */
  readonly receivers: number;
  readonly inbox: 'file' | 'shared-file' | 'database' | 'memory';
  readonly leads: number;
  /** Copies of one delivery that the sender begins in the same turn. */
  readonly copies: number;
  readonly acknowledge: 'delivered' | 'stored';
  readonly targets: readonly ('application' | 'file' | 'command')[];
  readonly pagination: PaginationStyle;
  readonly happenings: readonly Happening[];
}

export type PaginationStyle = 'page' | 'offset' | 'cursor' | 'link' | 'none';

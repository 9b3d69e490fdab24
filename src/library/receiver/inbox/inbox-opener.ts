import type { Inbox } from '../../../inbox/inbox.ts';
import type { RedactDelivery } from '../../../inbox/inbox-options.ts';
import type { Clock } from '../../../time/clock.ts';

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

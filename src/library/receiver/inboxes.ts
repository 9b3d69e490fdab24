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

const opener = (location: string): InboxOpener => ({
  async open(requirements) {
    const { openInbox } = await import('../../inbox/open-inbox.ts');
    // Importing node:process reads all of its properties, and so opens the standard streams of the application.
    // eslint-disable-next-line no-restricted-globals
    return openInbox({ ...requirements, location, pid: process.pid });
  },
});

/**
 * A file on this machine, made where there is none (0600). Several processes may share it. `leads inbox list --inbox PATH`
 * shows what is in it.
 */
export function fileInbox(path: string): InboxOpener {
  if (path === '' || path === ':memory:' || /^[a-z]+:\/\//i.test(path)) {
    throw new ConfigError(`'${path}' is no path of a file`);
  }
  return opener(path);
}

/** Lost with the process: for tests, and where the sender delivers again what was not handled. */
export const memoryInbox = (): InboxOpener => opener(':memory:');

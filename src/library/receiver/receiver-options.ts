import type { VerdictKind } from '../../inbox/decide-verdict.ts';
import type { Inbox, Source } from '../../inbox/inbox.ts';
import type { RedactDelivery } from '../../inbox/store-options.ts';
import type { Clock } from '../../time/clock.ts';
import type { OtherReason, RejectReason } from '../../webhook/delivery-answer.ts';
import type { Lead } from '../webhook/lead.ts';
import type { Fitted, LeadSchema } from '../webhook/lead-schema.ts';
import type { RequestLimits, SchemeChoice } from '../webhook/options.ts';

/** What `onLead` is told besides the lead. */
export interface LeadContext {
  /** 1 when the lead is handed over for the first time, more when it may have been before. */
  readonly attempt: number;
  /** Aborts when it takes too long: the lead is handed over again later, and what goes on then overlaps with that. */
  readonly signal: AbortSignal;
  /** Of its delivery; of one that comes from the inbox, those that held a credential are left out. */
  readonly headers: Headers;
  /** Of its delivery, without the query. */
  readonly path: string;
  /** The whole body, parsed when it is first asked for; undefined where the body is the lead. */
  readonly envelope: unknown;
  /** `backfill`: `leads listen --backfill` put it into the same inbox. */
  readonly source: Source;
}

/** What became of one lead of a delivery, of one that was handed over again, or of a delivery that was rejected. */
export interface ReceivedDelivery {
  /** `pending`: it is stored, and `onLead` has not taken it. `other`: genuine, and no lead. */
  readonly verdict: VerdictKind;
  /** HTTP status of the answer. */
  readonly status: number;
  /** Of a rejected delivery, such as `wrong_credential`; of another one without a lead, `other_event` or `handshake`. */
  readonly reason?: RejectReason | OtherReason | undefined;
  /** One sentence beside the reason, for the operator. */
  readonly hint?: string | undefined;
  readonly leadId?: string | undefined;
  /** Which delivery of this id it is, from 1. */
  readonly attempt?: number | undefined;
  /** Deviations from the specification that are no reason to reject a lead. */
  readonly warnings?: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  /** From receipt to answer, in milliseconds. */
  readonly durationMs: number;
}

export interface ReceiverOptions<Output = never> extends SchemeChoice, RequestLimits {
  /** Reads each lead for `onLead`: `value` is what it makes of it. One that does not fit is handed over with its `issues`. */
  readonly schema?: LeadSchema<Output> | undefined;
  /** Where deliveries are kept: `fileInbox(path)`, `postgresInbox(url)`, `memoryInbox()`, or an object of your own, which stays yours to close. */
  readonly inbox: InboxOpener | ReceiverInbox;
  /**
   * Takes a lead by resolving. Called at least once for each lead, one call at a time for one lead, and again after it has
   * rejected or taken too long, until it resolves: make what it does safe to repeat.
   */
  readonly onLead: (lead: Fitted<Lead, Output>, context: LeadContext) => unknown;
  /** Of one call of `onLead`, in milliseconds. The lease on a lead is more than twice as long. Default 10 s. */
  readonly onLeadTimeoutMs?: number | undefined;
  /** Calls of `onLead` at the same time. Default 16. */
  readonly concurrency?: number | undefined;
  /** From the end of one round that hands over what is outstanding to the next, in milliseconds. Default 60 s. */
  readonly retryEveryMs?: number | undefined;
  /** Keeps several applications apart that get the leads of one inbox: each has its own name. Default `onLead`. */
  readonly name?: string | undefined;
  /** The only path taken, without query. Default: any, since the application's router has chosen. */
  readonly path?: string | undefined;
  /** Where the lead is in the body: a JSON Pointer such as `/data`, or `auto`. Default `auto`. */
  readonly leadAt?: string | undefined;
  /** The field that is a lead's id, where that is not `id`. */
  readonly idField?: string | undefined;
  /** Genuine deliveries without any field of a lead: `accept` keeps the last 1,000 and answers 200. Default `reject`: 400. */
  readonly otherEvents?: 'accept' | 'reject' | undefined;
  /** Told of every delivery when its answer is known, which does not wait for it. */
  readonly onDelivery?: ((delivery: ReceivedDelivery) => unknown) | undefined;
  /** Told what failed: `onLead`, the inbox, a verifier of your own (once a minute), a body that was parsed before. Default: `console.error`. */
  readonly onError?:
    ((error: unknown, about: { readonly leadId?: string | undefined }) => unknown) | undefined;
  /** Told what the operator should know, such as that an old secret is still in use. Default: `console.warn`. */
  readonly onWarning?: ((text: string) => unknown) | undefined;
  /** For tests. */
  readonly clock?: Clock | undefined;
}

/** What a receiver needs of its inbox. An object of your own must keep the promises that each method states. */
export type ReceiverInbox = Pick<
  Inbox,
  'take' | 'reject' | 'settle' | 'release' | 'lease' | 'unsettled' | 'list' | 'close'
> &
  Partial<Pick<Inbox, 'states'>>;

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

import { DataError, LeadNotFoundError } from '../errors.ts';
import type { Inbox, StoredDelivery } from '../inbox/inbox.ts';
import { leadBytes } from '../lead/raw-lead.ts';
import { readStoredLead } from '../lead/read-leads.ts';
import type { CheckedDelivery, CheckedLead } from '../webhook/check-delivery.ts';
import type { ReceiverProblem } from './problems.ts';

/** A delivery without what it brought. Times are milliseconds since the epoch. */
export interface FirstDelivery extends Pick<StoredDelivery, 'seq' | 'attempt'> {
  readonly leadId: string;
  /**
   * The number, and so on, of the delivery that is handed on: where this one was fetched, the first one that was pushed, since an
   * app may check the credential, the path and the envelope, which only that one has.
   */
  readonly handedSeq: number;
  readonly source: StoredDelivery['source'];
  readonly firstSeq: StoredDelivery['firstSeq'];
  readonly place: StoredDelivery['place'];
  readonly firstAt: number;
}

/** Why what is stored of one lead cannot be handed on, which is no reason to leave the others. */
export type Unreadable = DataError | LeadNotFoundError;

export const isUnreadable = (error: unknown): error is Unreadable =>
  error instanceof LeadNotFoundError ||
  (error instanceof DataError && error.problem?.kind === 'delivery-without-lead');

/** The ids of leads that are outstanding for some target, oldest first. */
export async function pendingIds(inbox: Pick<Inbox, 'unsettled'>): Promise<readonly string[]> {
  const seqs = new Map<string, number>();
  for await (const { leadId, seq } of inbox.unsettled()) seqs.set(leadId, seq);
  return [...seqs].sort(([, a], [, b]) => a - b).map(([leadId]) => leadId);
}

/** The delivery of the lead that came first. Throws a `LeadNotFoundError` for an id of which nothing is stored. */
export async function firstDelivery(inbox: Pick<Inbox, 'list'>, leadId: string): Promise<FirstDelivery> {
  let first: FirstDelivery | undefined;
  // Bodies are read again later: those of all leads may be too much to hold.
  for await (const { body: _, ...delivery } of inbox.list({ leadId })) {
    if (delivery.verdict !== 'rejected') first = earlier(delivery, leadId, first);
  }
  if (first !== undefined) return first;
  throw new LeadNotFoundError({ kind: 'no-delivery-of-lead', leadId } satisfies ReceiverProblem);
}

/** `later`: what is known of the deliveries that came after this one. */
function earlier(
  { seq, source, firstSeq, attempt, place, receivedAt }: Omit<StoredDelivery, 'body'>,
  leadId: string,
  later: FirstDelivery | undefined,
): FirstDelivery {
  const isPushedLater = source === 'backfill' && later?.source === 'push';
  const handedOn = isPushedLater ? later : { handedSeq: seq, source, firstSeq, place };
  return { ...handedOn, leadId, seq, attempt, firstAt: receivedAt };
}

/** Leads that came in one request go out in one. */
export function groupByRequest(found: readonly FirstDelivery[]): readonly (readonly FirstDelivery[])[] {
  const groups = new Map<number, FirstDelivery[]>();
  for (const one of found) {
    const number = one.firstSeq ?? one.handedSeq;
    const group = groups.get(number);
    if (group === undefined) groups.set(number, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}

/** The delivery of that number; undefined where there is none. */
export async function storedDelivery(
  inbox: Pick<Inbox, 'list'>,
  seq: number,
): Promise<StoredDelivery | undefined> {
  for await (const delivery of inbox.list({ seq })) return delivery;
  return undefined;
}

/** Credentials are not stored: a header that held one is left out. */
export const redacted = '[redacted]';

/** One lead of a stored delivery. */
export type LeadOfDelivery = Pick<StoredDelivery, 'seq' | 'leadId' | 'place'>;

/** A stored delivery as it was received, with some of its leads. Throws a `DataError` where one of them is none. */
export function asReceived(stored: StoredDelivery, leads: readonly LeadOfDelivery[]): CheckedDelivery {
  const { method, path, headers, body, remote, receivedAt, source } = stored;
  const rawHeaders = headers.filter(([, value]) => !value.includes(redacted));
  return {
    kind: 'leads',
    source,
    delivery: { method, path, url: '', rawHeaders, body, remote, receivedAt },
    leads: leads.map((lead) => checkedLead(stored, lead)),
    key: -1,
  };
}

/** One of its leads. Throws a `DataError` where that is none. */
export function checkedLead(
  { body, source }: StoredDelivery,
  { seq, leadId, place }: LeadOfDelivery,
): CheckedLead {
  const bytes = leadBytes(body, place);
  const read = leadId === undefined ? undefined : readStoredLead(bytes, leadId);
  if (leadId !== undefined && read?.ok === true) {
    return { lead: read.lead, leadId, place, warnings: read.warnings };
  }
  if (leadId === undefined || source !== 'backfill') {
    throw new DataError({ kind: 'delivery-without-lead', number: seq } satisfies ReceiverProblem);
  }
  // A service may have it outside of the lead.
  return {
    lead: { bytes, id: leadId, createdAt: undefined, category: undefined },
    leadId,
    place,
    warnings: [],
  };
}

export const isoText = (ms: number): string => new Date(ms).toISOString();

/** The fields of `deliverySummary`, in their order. */
export const summaryFields = [
  ...['number', 'receivedAt', 'verdict', 'reason', 'detail', 'status', 'leadId', 'attempt'],
  ...['source', 'remote', 'method', 'path', 'bytes', 'differs'],
] as const satisfies readonly (keyof ReturnType<typeof deliverySummary>)[];

/** A delivery as one JSON object, without headers and body. */
export const deliverySummary = (delivery: StoredDelivery) => ({
  number: delivery.seq,
  receivedAt: isoText(delivery.receivedAt),
  verdict: delivery.verdict,
  reason: delivery.reason ?? null,
  detail: delivery.detail ?? null,
  status: delivery.status,
  leadId: delivery.leadId ?? null,
  attempt: delivery.attempt,
  source: delivery.source,
  remote: delivery.remote,
  method: delivery.method,
  path: delivery.path,
  bytes: delivery.body.length,
  differs: delivery.differs ?? null,
});

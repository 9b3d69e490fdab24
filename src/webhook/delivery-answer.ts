/** The HTTP status and the public message for each reason (contract, "Answers"). */
const reasons = {
  foreign_host: [403, 'nothing is received for this Host or Origin'],
  wrong_verify_token: [403, 'the verify token is wrong'],
  wrong_path: [404, 'nothing is received at this path'],
  wrong_method: [405, 'a delivery must be a POST'],
  missing_credential: [401, 'the token or signature is missing'],
  repeated_credential: [401, 'the token or signature was sent more than once'],
  malformed_credential: [401, 'the token or signature is malformed'],
  wrong_credential: [401, 'the token or signature is wrong'],
  missing_timestamp: [401, 'the timestamp is missing'],
  malformed_timestamp: [401, 'the timestamp is malformed'],
  stale_timestamp: [401, 'the timestamp is too old'],
  future_timestamp: [401, 'the timestamp lies in the future'],
  missing_nonce: [401, 'the nonce or delivery id is missing'],
  replayed_nonce: [401, 'the nonce or delivery id was used before with another body'],
  wrong_content_type: [415, 'the content type must be application/json in UTF-8'],
  encoded_body: [415, 'the body must not be compressed or otherwise encoded'],
  not_json: [400, 'the body is not JSON'],
  not_a_lead: [400, 'the body is not a lead: a JSON object with an id'],
  too_large: [413, 'the body is too large'],
  too_slow: [408, 'the request took too long'],
  too_many_headers: [431, 'the headers are too many or too large'],
  malformed_request: [400, 'this is not a well-formed HTTP/1.1 request'],
  failed_expectation: [417, 'only 100-continue can be expected'],
  incomplete_body: [400, 'the body is not complete'],
  overloaded: [503, 'too much at once; send it again later'],
  cannot_store: [503, 'the lead could not be stored; send it again later'],
  told_to_fail: [503, 'failed on purpose, to see what the sender does'],
} as const satisfies Readonly<Record<string, readonly [status: number, message: string]>>;

/** Why a delivery was rejected. Machine-readable; part of the `events` format. */
export type RejectReason = keyof typeof reasons;

export const rejectReasons = Object.keys(reasons) as readonly RejectReason[];

export interface Rejection {
  readonly ok: false;
  readonly kind: 'rejected';
  readonly status: number;
  readonly reason: RejectReason;
  /** A sentence for the person who debugs the sender. It never contains a secret or an expected signature. */
  readonly detail: string;
}

export const rejection = (reason: RejectReason, detail: string): Rejection => ({
  ok: false,
  kind: 'rejected',
  status: reasons[reason][0],
  reason,
  detail,
});

/**
 * A genuine delivery without a lead: another event of the vendor, which is kept, or the handshake of a
 * registration.
 */
export interface OtherDelivery {
  readonly kind: 'other';
  readonly status: number;
  readonly reason: OtherReason;
  readonly detail: string;
  readonly answer: DeliveryAnswer;
}

export const otherReasons = ['other_event', 'handshake'] as const;

export type OtherReason = (typeof otherReasons)[number];

export const otherDelivery = (
  reason: OtherReason,
  detail: string,
  answer: DeliveryAnswer = { status: 200, body: { status: 'other' } },
): OtherDelivery => ({ kind: 'other', status: answer.status, reason, detail, answer });

export interface LeadOutcome {
  readonly kind: 'accepted' | 'duplicate';
  readonly leadId: string;
}

export type DeliveryOutcome = LeadOutcome | Rejection;

export interface DeliveryAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, string | number | readonly Readonly<Record<string, string>>[]>>;
  readonly text?: { readonly type: string; readonly content: string } | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Makes the responses of the contract. It does not send the detail of a rejection, which is for the operator of
 * the receiver only.
 */
export function answerForOutcome(outcome: DeliveryOutcome): DeliveryAnswer {
  switch (outcome.kind) {
    case 'accepted':
    case 'duplicate':
      return { status: 200, body: { status: outcome.kind, id: outcome.leadId } };
    case 'rejected': {
      const body = { error: outcome.reason, message: reasons[outcome.reason][1] };
      if (outcome.status === 405) return { status: 405, body, headers: { allow: 'POST' } };
      if (isTemporary(outcome.reason)) {
        return { status: outcome.status, body, headers: { 'retry-after': retryAfterSeconds } };
      }
      return { status: outcome.status, body };
    }
  }
}

export function answerForLeads(outcomes: readonly LeadOutcome[]): DeliveryAnswer {
  const [first] = outcomes;
  if (first === undefined) throw new Error('a delivery without a lead has no answer');
  if (outcomes.length === 1) return answerForOutcome(first);
  const status = outcomes.some(({ kind }) => kind === 'accepted') ? 'accepted' : 'duplicate';
  return {
    status: 200,
    body: { status, leads: outcomes.map(({ kind, leadId }) => ({ status: kind, id: leadId })) },
  };
}

const isTemporary = (reason: RejectReason): boolean => reason === 'overloaded' || reason === 'cannot_store';

/** A database that restarts, and a full memory, need about this long to recover. */
const retryAfterSeconds = '5';

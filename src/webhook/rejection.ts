/** The HTTP status for each reason (contract, "Answers"). */
const statuses = {
  foreign_host: 403,
  wrong_path: 404,
  wrong_method: 405,
  missing_credential: 401,
  repeated_credential: 401,
  malformed_credential: 401,
  wrong_credential: 401,
  missing_timestamp: 401,
  malformed_timestamp: 401,
  stale_timestamp: 401,
  future_timestamp: 401,
  missing_nonce: 401,
  replayed_nonce: 401,
  wrong_content_type: 415,
  encoded_body: 415,
  not_json: 400,
  not_a_lead: 400,
  too_large: 413,
  too_slow: 408,
  too_many_headers: 431,
  malformed_request: 400,
  failed_expectation: 417,
  incomplete_body: 400,
  overloaded: 503,
  cannot_store: 503,
  told_to_fail: 503,
} as const;

/** Why a delivery was rejected. Machine-readable; part of the `events` format. */
export type RejectReason = keyof typeof statuses;

export const rejectReasons = Object.keys(statuses) as readonly RejectReason[];

/** A delivery that was rejected, and the status of its answer. */
export interface Rejection {
  readonly kind: 'rejected';
  readonly status: number;
  readonly reason: RejectReason;
  /** One sentence for the person who debugs the sender; never contains a secret or an expected signature. */
  readonly detail: string;
}

export const rejection = (reason: RejectReason, detail: string): Rejection => ({
  kind: 'rejected',
  status: statuses[reason],
  reason,
  detail,
});

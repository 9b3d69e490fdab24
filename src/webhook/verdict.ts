/** Why a delivery was not taken in. Machine-readable; part of the `events` format. */
export type RejectReason =
  | 'wrong_path'
  | 'wrong_method'
  | 'missing_credential'
  | 'repeated_credential'
  | 'malformed_credential'
  | 'wrong_credential'
  | 'missing_timestamp'
  | 'malformed_timestamp'
  | 'stale_timestamp'
  | 'future_timestamp'
  | 'missing_nonce'
  | 'replayed_nonce'
  | 'wrong_content_type'
  | 'encoded_body'
  | 'not_json'
  | 'not_a_lead'
  | 'too_large'
  | 'too_slow'
  | 'cannot_store';

/** A delivery that was refused, and what it was answered. */
export interface Rejection {
  readonly kind: 'rejected';
  readonly status: number;
  readonly reason: RejectReason;
  /** One sentence for the person debugging; never holds a secret or an expected signature. */
  readonly detail: string;
}

import type { StoredDelivery } from '../../inbox/inbox.ts';
import type { RejectReason } from '../../webhook/rejection.ts';

const credential =
  "The inbox keeps no credentials, so nothing here shows what was sent; 'leads listen --explain' prints what the next one matches.";
const clock = 'Compare the clocks of both machines; --tolerance says how far they may be apart.';
const sender = 'This is for the sender to change.';

/** What the operator can do about it. */
const advice: Readonly<Partial<Record<RejectReason, string>>> = {
  foreign_host: 'A page in a browser may have sent it; name the host with --public-url if it is yours.',
  wrong_path: 'The receiver takes deliveries at the path of --path only.',
  wrong_method: sender,
  missing_credential:
    'Check that the sender signs its deliveries, and that the receiver runs with its scheme.',
  repeated_credential: sender,
  malformed_credential: 'Check that both sides use the same scheme.',
  wrong_credential: credential,
  missing_timestamp: 'Check that both sides use the same scheme.',
  malformed_timestamp: 'Check --timestamp-format, and that both sides use the same scheme.',
  stale_timestamp: clock,
  future_timestamp: clock,
  missing_nonce: 'Check that both sides use the same scheme.',
  replayed_nonce: 'A retry brings the same body; another body under a used nonce may be an attack.',
  wrong_content_type: sender,
  encoded_body: sender,
  not_json: 'The stored body shows what came.',
  not_a_lead: 'If the lead is inside of an envelope, --lead-at says where.',
  too_large: sender,
  too_slow: 'The network or the sender was slow: nothing is wrong with what it sends.',
  overloaded: 'The sender was asked to send it again later.',
  cannot_store: 'The sender was asked to send it again later.',
  told_to_fail: 'The receiver was started with --respond or --fail-first.',
};

/** Why a stored delivery was rejected, a sentence each; undefined where it was not. */
export function explainStored({ verdict, reason, detail }: StoredDelivery): readonly string[] | undefined {
  if (verdict !== 'rejected') return undefined;
  const what = detail ?? reason ?? 'no reason was kept';
  const hint = advice[reason as RejectReason];
  return [`${what.charAt(0).toUpperCase()}${what.slice(1)}.`, ...(hint === undefined ? [] : [hint])];
}

import type { Delivery } from './delivery.ts';
import type { Key, Scheme, Verification } from './scheme.ts';
import { checkTimestamp } from './timestamp.ts';

/** Credential and time together; `now` in milliseconds. Receivers that check the content type between use `examine`. */
export function verify(delivery: Delivery, scheme: Scheme, keys: readonly Key[], now: number): Verification {
  const verification = scheme.authenticate(delivery, keys);
  if (!verification.ok) return verification;
  const time = checkTimestamp(verification, scheme.toleranceMs, now);
  return time.ok ? verification : time;
}

import type { Delivery } from '../../src/webhook/delivery.ts';
import type { Key, Scheme, Verification } from '../../src/webhook/scheme.ts';
import { checkTimestamp } from '../../src/webhook/timestamp.ts';

/** Credential and time together; `now` in milliseconds. Receivers that check the content type between use `examine`. */
export function verify(delivery: Delivery, scheme: Scheme, keys: readonly Key[], now: number): Verification {
  const verification = scheme.authenticate(delivery, keys);
  if (!verification.ok) return verification;
  const time = checkTimestamp(verification, scheme.toleranceMs, now);
  return time.ok ? verification : time;
}

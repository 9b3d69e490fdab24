import { type Delivery, headerValues } from './delivery.ts';
import { type Refused, refused } from './scheme.ts';

/** A header that must be there exactly once, and not be empty: `reason` names the case of its absence. */
export function soleHeader(
  delivery: Pick<Delivery, 'rawHeaders'>,
  name: string,
  absent: 'missing_credential' | 'missing_timestamp' | 'missing_nonce' = 'missing_credential',
): { ok: true; value: string } | Refused {
  const [value, ...others] = headerValues(delivery, name);
  if (value === undefined) return refused(absent, `the header ${name} is missing`);
  if (others.length > 0) {
    return refused('repeated_credential', `the header ${name} was sent ${others.length + 1} times`);
  }
  if (value === '') return refused(absent, `the header ${name} is empty`);
  return { ok: true, value };
}

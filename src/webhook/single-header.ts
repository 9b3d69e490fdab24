import { type Delivery, headerValues } from './delivery.ts';
import { type Rejected, rejected } from './scheme.ts';

/** The value of a header that must come exactly once and not be empty; `absent` is the reason when it does not. */
export function soleHeader(
  delivery: Pick<Delivery, 'rawHeaders'>,
  name: string,
  absent: 'missing_credential' | 'missing_timestamp' | 'missing_nonce' = 'missing_credential',
): { ok: true; value: string } | Rejected {
  const [value, ...others] = headerValues(delivery, name);
  if (value === undefined) return rejected(absent, `the header ${name} is missing`);
  if (others.length > 0) {
    return rejected('repeated_credential', `the header ${name} was sent ${others.length + 1} times`);
  }
  if (value === '') return rejected(absent, `the header ${name} is empty`);
  return { ok: true, value };
}

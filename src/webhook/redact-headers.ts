import type { Delivery } from './delivery.ts';
import type { Scheme } from './scheme.ts';

/** Headers that hold a credential in some scheme: one that this receiver ignores must not be kept either. */
const credential = /cookie|authorization|token|secret|signature|hmac|api-?key|password/i;

/** The headers with their order, case and repetitions; the values of those that hold a credential are replaced. */
export function redactHeaders(
  rawHeaders: Delivery['rawHeaders'],
  scheme: Pick<Scheme, 'credentialHeaders'>,
): Delivery['rawHeaders'] {
  return rawHeaders.map(([name, value]) =>
    credential.test(name) || scheme.credentialHeaders.includes(name.toLowerCase())
      ? [name, '[redacted]']
      : [name, value],
  );
}

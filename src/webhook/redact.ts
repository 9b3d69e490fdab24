import type { Delivery } from './delivery.ts';
import type { Scheme } from './scheme.ts';

/** Headers that hold a credential under some scheme or other: a receiver must not keep one because it ignored it. */
const credential = /cookie|authorization|token|secret|signature|hmac|api-?key|password/i;

/** The headers as they may be stored and shown: order, case and repetitions kept, credentials replaced. */
export function redact(
  rawHeaders: Delivery['rawHeaders'],
  scheme: Pick<Scheme, 'credentialHeaders'>,
): Delivery['rawHeaders'] {
  return rawHeaders.map(([name, value]) =>
    credential.test(name) || scheme.credentialHeaders.includes(name.toLowerCase())
      ? [name, '[redacted]']
      : [name, value],
  );
}

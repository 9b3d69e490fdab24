import { configError } from './problems.ts';
import { type Delivery, headerValues } from './delivery.ts';
import { type Rejected, rejected, type Scheme } from './scheme.ts';

type AbsentReason = 'missing_credential' | 'missing_timestamp' | 'missing_nonce';

/** The value of a header that must come exactly once and not be empty; `absent` is the reason when it does not. */
export function soleHeader(
  delivery: Pick<Delivery, 'rawHeaders'>,
  name: string,
  absent?: AbsentReason,
): { ok: true; value: string } | Rejected {
  const values = headerValues(delivery, name);
  return problemOfSole(values, name, absent) ?? { ok: true, value: values[0] ?? '' };
}

/** The same for its values; undefined where they are as they must be. */
export function problemOfSole(
  values: readonly string[],
  name: string,
  absent: AbsentReason = 'missing_credential',
): Rejected | undefined {
  const [first, second] = values;
  if (second !== undefined) {
    return rejected('repeated_credential', `the header ${name} was sent ${values.length} times`);
  }
  if (first) return undefined;
  return rejected(absent, `the header ${name} is ${first === undefined ? 'missing' : 'empty'}`);
}

/** The name of a header in lower case (RFC 9110, section 5.1). Throws a `ConfigError` for what is none. */
export function fieldName(name: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return name.toLowerCase();
  throw configError({ kind: 'not-a-header-name', name });
}

/** Headers that hold a credential in some scheme: one that this receiver ignores must not be kept either. */
const credential = /cookie|authorization|token|secret|signature|hmac|api-?key|password/i;

/** The headers with their order, case and repetitions; the values of those that hold a credential are replaced. */
export function redactHeaders(
  rawHeaders: Delivery['rawHeaders'],
  scheme: Pick<Scheme, 'credentialHeaders'>,
): Delivery['rawHeaders'] {
  const own = scheme.credentialHeaders;
  const known = judged.get(own) ?? new Map<string, boolean>();
  judged.set(own, known);
  return rawHeaders.map((header) => {
    const [name] = header;
    let isCredential = known.get(name);
    if (isCredential === undefined) {
      isCredential = own.includes(name.toLowerCase()) || credential.test(name);
      if (known.size < mostJudged && name.length < 100) known.set(name, isCredential);
    }
    return isCredential ? [name, '[redacted]'] : header;
  });
}

/** By the headers of a scheme: senders name the same ones again and again; a bound, since they choose the names. */
const judged = new WeakMap<readonly string[], Map<string, boolean>>();
const mostJudged = 500;

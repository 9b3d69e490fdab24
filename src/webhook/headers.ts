import { configError } from './problems.ts';
import { type Delivery, headerValues } from './delivery.ts';
import { type Rejected, rejected, type Scheme } from './scheme.ts';

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
  return rawHeaders.map(([name, value]) =>
    scheme.credentialHeaders.includes(name.toLowerCase()) || namesCredential(name)
      ? [name, '[redacted]']
      : [name, value],
  );
}

/** Senders name the same headers again and again; a bound, since they choose the names. */
const judged = new Map<string, boolean>();
const mostJudged = 500;

function namesCredential(name: string): boolean {
  const known = judged.get(name);
  if (known !== undefined) return known;
  const isCredential = credential.test(name);
  if (judged.size < mostJudged && name.length < 100) judged.set(name, isCredential);
  return isCredential;
}

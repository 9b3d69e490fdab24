import { invalidHeaderName } from './errors.ts';
import { type Rejected, rejected } from './delivery-answer.ts';

/** One HTTP request that pushes a lead to a receiver: complete, and not yet parsed. */
export interface Delivery {
  readonly method: string;
  /** Path and query exactly as in the request line. */
  readonly path: string;
  /** Scheme, host, path and query, for schemes that sign the URL. */
  readonly url: string;
  /** As sent: order, case and repetitions kept. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** Address of the peer. */
  readonly remote: string;
  /** When the body was complete; milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Every value sent under this name, in order. Names compare without case (RFC 9110, section 5.1). */
export function headerValues(delivery: Pick<Delivery, 'rawHeaders'>, name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (const header of delivery.rawHeaders) {
    // Comparing lengths first spares most names the lower-casing.
    if (header[0].length === wanted.length && header[0].toLowerCase() === wanted) values.push(header[1]);
  }
  return values;
}

/** The path without its query. A request line may hold a whole URL instead of a path (RFC 9112, section 3.2.2). */
export function pathOf({ path }: Pick<Delivery, 'path'>): string {
  const target = path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/?]*/i, '');
  const end = target.indexOf('?');
  return (end < 0 ? target : target.slice(0, end)) || '/';
}

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

/** A header's value without blanks and line breaks around it (RFC 9110, section 5.6.3): the last byte of `à` is none. */
export function trimBlanks(value: string): string {
  let [start, end] = [0, value.length];
  while (isBlank(value.charCodeAt(start))) start += 1;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end -= 1;
  return value.slice(start, end);
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

/** The name of a header in lower case (RFC 9110, section 5.1). Throws a `ConfigError` for what is none. */
export function fieldName(name: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return name.toLowerCase();
  throw invalidHeaderName(name);
}

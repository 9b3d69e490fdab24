import { type Rejection, rejection } from './delivery-answer.ts';
import { invalidHeaderName } from './errors.ts';

/** A complete HTTP request that pushes a lead to a receiver, not yet parsed. */
export interface Delivery {
  readonly method: string;
  /** Path and query; from a socket, the target of the request line unchanged. */
  readonly path: string;
  /** Scheme, host, path and query, for schemes that sign the URL. */
  readonly url: string;
  /** Keeps order, case and repetitions. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly remote: string;
  /** The time when the body was complete, in milliseconds since the epoch. */
  readonly receivedAt: number;
}

/** Names compare without case (RFC 9110, section 5.1). */
export function headerValues(delivery: Pick<Delivery, 'rawHeaders'>, name: string): string[] {
  const lowerName = name.toLowerCase();
  const values: string[] = [];
  for (const header of delivery.rawHeaders) {
    // Comparing lengths first spares most names the lower-casing.
    if (header[0].length === lowerName.length && header[0].toLowerCase() === lowerName)
      values.push(header[1]);
  }
  return values;
}

/** A request line may hold a whole URL instead of a path (RFC 9112, section 3.2.2). */
export function pathOf({ path }: Pick<Delivery, 'path'>): string {
  const target = path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/?]*/i, '');
  const end = target.indexOf('?');
  return (end < 0 ? target : target.slice(0, end)) || '/';
}

type AbsentReason = 'missing_credential' | 'missing_timestamp' | 'missing_nonce';

/** The header must occur exactly once and not be empty; `absent` is the reason where it is missing or empty. */
export function soleHeader(
  delivery: Pick<Delivery, 'rawHeaders'>,
  name: string,
  absent?: AbsentReason,
): { ok: true; value: string } | Rejection {
  const values = headerValues(delivery, name);
  return rejectUnlessSole(values, name, absent) ?? { ok: true, value: values[0] ?? '' };
}

export function rejectUnlessSole(
  values: readonly string[],
  name: string,
  absent: AbsentReason = 'missing_credential',
): Rejection | undefined {
  const [first, second] = values;
  if (second !== undefined) {
    return rejection('repeated_credential', `the header ${name} was sent ${values.length} times`);
  }
  if (first) return undefined;
  return rejection(absent, `the header ${name} is ${first === undefined ? 'missing' : 'empty'}`);
}

/** Connections and clients decide these: a client refuses to send another value. */
const connectionHeaders = /^(connection|keep-alive|transfer-encoding|upgrade|expect|host|content-length)$/i;

/** Gives the name in lower case (RFC 9110, section 5.1). Throws a `ConfigError` for a text that cannot be the name of a credential's header. */
export function credentialHeaderName(name: string): string {
  const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
  if (isToken && !connectionHeaders.test(name)) return name.toLowerCase();
  throw invalidHeaderName(name);
}

import { type Rejection, rejection } from './delivery-answer.ts';
import { invalidHeaderName } from './errors.ts';

/**
 * A complete HTTP request that pushes a lead to a receiver, not yet parsed. `path` holds path and query: from a socket,
 * the target of the request line unchanged. `url` holds scheme, host, path and query, for schemes that sign it. The
 * headers keep order, case and repetitions. `remote` is the address of the client. The body was complete at
 * `receivedAt`, in milliseconds since the epoch.
 */
export interface Delivery {
  readonly method: string;
  readonly path: string;
  readonly url: string;
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly remote: string;
  readonly receivedAt: number;
}

/** Names compare without case (RFC 9110, section 5.1). */
export function headerValues(delivery: Pick<Delivery, 'rawHeaders'>, name: string): string[] {
  const lowerName = name.toLowerCase();
  const values: string[] = [];
  for (const header of delivery.rawHeaders) {
    // Few names have this length, and only these are lower-cased.
    if (header[0].length === lowerName.length && header[0].toLowerCase() === lowerName)
      values.push(header[1]);
  }
  return values;
}

/** A request line may hold a whole URL instead of a path (RFC 9112, section 3.2.2). */
export function pathOf({ path }: Pick<Delivery, 'path'>): string {
  const target = path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/?]*/i, '');
  return target.replace(/\?[^]*/, '') || '/';
}

type AbsentReason = 'missing_credential' | 'missing_timestamp' | 'missing_nonce';

/** The header must occur exactly once and not be empty; `absentReason` is for one that is missing or empty. */
export function soleHeader(
  delivery: Pick<Delivery, 'rawHeaders'>,
  name: string,
  absentReason?: AbsentReason,
): { ok: true; value: string } | Rejection {
  const values = headerValues(delivery, name);
  return rejectUnlessSole(values, name, absentReason) ?? { ok: true, value: values[0] ?? '' };
}

export function rejectUnlessSole(
  values: readonly string[],
  name: string,
  absentReason: AbsentReason = 'missing_credential',
): Rejection | undefined {
  const [first, second] = values;
  if (second !== undefined) {
    return rejection('repeated_credential', `the header ${name} was sent ${values.length} times`);
  }
  if (first) return undefined;
  return rejection(absentReason, `the header ${name} is ${first === undefined ? 'missing' : 'empty'}`);
}

/** A header that the scheme names must be sent; one that it does not name has no value. */
export const optionalHeader = (
  delivery: Pick<Delivery, 'rawHeaders'>,
  name: string | undefined,
  absentReason: AbsentReason,
): { readonly ok: true; readonly value: string | undefined } | Rejection =>
  name === undefined ? { ok: true, value: undefined } : soleHeader(delivery, name, absentReason);

/** HTTP itself sets these headers, so no sender can put a credential into them. */
const connectionHeaders = /^(connection|keep-alive|transfer-encoding|upgrade|expect|host|content-length)$/i;

/** Returns the name in lower case (RFC 9110, section 5.1). Throws a `ConfigError` for a text that cannot be the name of a credential's header. */
export function credentialHeaderName(name: string): string {
  const isToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name);
  if (isToken && !connectionHeaders.test(name)) return name.toLowerCase();
  throw invalidHeaderName(name);
}

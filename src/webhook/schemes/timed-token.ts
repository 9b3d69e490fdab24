import type { Delivery } from '../delivery.ts';
import { fieldName, soleHeader } from '../headers.ts';
import { configError } from '../problems.ts';
import { type Rejected, rejected, type Scheme } from '../scheme.ts';
import type { SchemeOptions } from '../scheme-options.ts';
import { formatTimestamp, parseTimestamp } from '../timestamp.ts';

/**
 * A token with a time and a nonce in headers beside it, which keep a delivery from being replayed (specification, section 4.2,
 * rule 5): where a header is named, a delivery without it is rejected. Throws a `ConfigError` for headers that are not apart.
 */
export function timedToken(
  base: Scheme,
  { timestampHeader, timestampFormat = 'unix', nonceHeader }: SchemeOptions,
  toleranceMs: number,
): Scheme {
  const timeName = timestampHeader === undefined ? undefined : fieldName(timestampHeader);
  const nonceName = nonceHeader === undefined ? undefined : fieldName(nonceHeader);
  const names = [...base.credentialHeaders, timeName, nonceName].filter((name) => name !== undefined);
  if (new Set(names).size < names.length) throw configError({ kind: 'headers-not-apart', scheme: 'token' });
  return {
    ...base,
    toleranceMs: timeName === undefined ? undefined : toleranceMs,

    authenticate(delivery, keys) {
      const authentic = base.authenticate(delivery, keys);
      if (!authentic.ok) return authentic;
      const time = beside(delivery, timeName, 'missing_timestamp');
      if (!time.ok) return time;
      const timestamp = time.value === undefined ? undefined : parseTimestamp(time.value, timestampFormat);
      if (time.value !== undefined && timestamp === undefined) {
        const problem = `the header ${timeName ?? ''} is not a time in the form '${timestampFormat}'`;
        return rejected('malformed_timestamp', problem);
      }
      const nonce = beside(delivery, nonceName, 'missing_nonce');
      return nonce.ok ? { ...authentic, timestamp, nonce: nonce.value } : nonce;
    },

    sign(message, key, now) {
      const headers = [...base.sign(message, key, now)];
      if (timeName !== undefined) headers.push([timeName, formatTimestamp(now, timestampFormat)]);
      if (nonceName !== undefined) headers.push([nonceName, message.id]);
      return headers;
    },
  };
}

/** The value of a header that is wanted beside the token; undefined where none is. */
const beside = (
  delivery: Delivery,
  name: string | undefined,
  absent: 'missing_timestamp' | 'missing_nonce',
): { readonly ok: true; readonly value: string | undefined } | Rejected =>
  name === undefined ? { ok: true, value: undefined } : soleHeader(delivery, name, absent);

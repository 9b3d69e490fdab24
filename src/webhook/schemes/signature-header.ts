import { decode, hasLengthOf, type Signature, signatureForm } from '../crypto/signature.ts';
import { type Delivery, headerValues, rejectUnlessSole } from '../delivery.ts';
import { type Rejection, rejection } from '../delivery-answer.ts';
import type { Algorithm, Encoding } from '../scheme-options.ts';

/**
 * With a `separator` the header has several entries: signatures begin with `prefix`, the time with
 * `timestampPrefix`, and Ed25519 signatures, where the scheme has such keys beside its secrets, with
 * `ed25519Prefix`; other entries are ignored. A repeatable header may be sent several times, one signature each.
 */
export interface SignatureHeaderFormat {
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  readonly prefix: string;
  readonly separator?: string | undefined;
  readonly timestampPrefix?: string | undefined;
  readonly ed25519Prefix?: string | undefined;
  readonly isRepeatable?: boolean | undefined;
}

interface SignatureHeader {
  readonly ok: true;
  readonly signatures: readonly Signature[];
  readonly timestamp: string | undefined;
}

/** More than a rotation of keys needs; without a limit, one request could cause thousands of comparisons. */
const maxSignatures = 16;

/**
 * Divides the header into entries, of which one may hold the time, and decodes the others strictly. An unreadable
 * signature is ignored when there is another one: a sender may add signatures of a kind that is not known here.
 */
export function signatureHeaderReader(
  format: SignatureHeaderFormat,
): (delivery: Delivery) => SignatureHeader | Rejection {
  const { signatureHeader: header, prefix, algorithm, encoding, timestampPrefix, ed25519Prefix } = format;
  const readEntries = entryReader(format);
  return (delivery) => {
    const reading = readEntries(delivery);
    if (!reading.ok) return reading;
    const { entries } = reading;
    if (entries.length > maxSignatures) {
      return rejection('malformed_credential', `the header ${header} holds too many signatures`);
    }
    const times =
      timestampPrefix === undefined ? [] : entries.filter((entry) => entry.startsWith(timestampPrefix));
    if (times.length > 1) {
      return rejection('repeated_credential', `the header ${header} has two ${timestampPrefix ?? ''}`);
    }
    const signatures = signaturesIn(entries, prefix, algorithm, encoding);
    if (ed25519Prefix !== undefined)
      signatures.push(...signaturesIn(entries, ed25519Prefix, 'ed25519', encoding));
    if (signatures.length > 0) {
      return { ok: true, signatures, timestamp: times[0]?.slice(timestampPrefix?.length) };
    }
    const encodingName = encoding.startsWith('hex') ? 'hex' : encoding;
    return rejection(
      'malformed_credential',
      entries.every((entry) => !entry.startsWith(prefix))
        ? `the header ${header} has no signature '${prefix}…'`
        : `the signature in ${header} is not ${signatureForm(algorithm)} in ${encodingName}`,
    );
  };
}

function signaturesIn(
  entries: readonly string[],
  prefix: string,
  algorithm: Algorithm,
  encoding: Encoding,
): Signature[] {
  const signatures: Signature[] = [];
  for (const entry of entries) {
    const bytes = entry.startsWith(prefix) ? decode(entry.slice(prefix.length), encoding) : undefined;
    if (bytes !== undefined && hasLengthOf(algorithm, bytes)) signatures.push({ algorithm, bytes });
  }
  return signatures;
}

type Entries = { readonly ok: true; readonly entries: readonly string[] };

function entryReader(format: SignatureHeaderFormat): (delivery: Delivery) => Entries | Rejection {
  const { signatureHeader: header, isRepeatable = false } = format;
  // A proxy may join repeated headers by commas (RFC 9110, section 5.3).
  const separator = format.separator ?? (isRepeatable ? ',' : undefined);
  const isJoined = isRepeatable ? (): boolean => false : joinedHeaderTest(format);
  return (delivery) => {
    const values = headerValues(delivery, header);
    const problem = isRepeatable && values.length > 1 ? undefined : rejectUnlessSole(values, header);
    if (problem !== undefined) return problem;
    if (values.some(isJoined)) {
      return rejection('repeated_credential', `the header ${header} holds more than one value`);
    }
    if (separator === undefined) return { ok: true, entries: values };
    // Some senders write blanks around the separator, and some do not; a separator may also be a blank itself.
    const visibleSeparator = separator.trim() || separator;
    const entries = values.flatMap((value) => value.split(visibleSeparator)).map((entry) => entry.trim());
    return { ok: true, entries };
  };
}

/**
 * Recognizes one value that a proxy made of two headers: behind a comma, a second header begins. A header whose
 * own separator holds a comma does not show that, except by a second time, which the reader rejects.
 */
function joinedHeaderTest(format: SignatureHeaderFormat): (value: string) => boolean {
  const { separator, prefix, timestampPrefix, ed25519Prefix } = format;
  if (separator === undefined) {
    return (value) => (value.startsWith(prefix) ? value.slice(prefix.length) : value).includes(',');
  }
  if (separator.includes(',')) return () => false;
  const starts = timestampPrefix === undefined ? [prefix, ed25519Prefix ?? prefix] : [timestampPrefix];
  const escaped = starts.map((start) => start.replace(/[^A-Za-z0-9]/g, String.raw`\$&`));
  const startAfterComma = new RegExp(String.raw`,\s*(?:${escaped.join('|')})`);
  return (value) => startAfterComma.test(value);
}

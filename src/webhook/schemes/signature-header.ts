import type { Algorithm, Encoding } from '../scheme-options.ts';
import { hasLengthOf, type Signature, signatureForm } from '../crypto/signature.ts';
import { decode } from '../crypto/symmetric-key.ts';
import { type Delivery, headerValues } from '../delivery.ts';
import { type Rejected, rejected } from '../scheme.ts';
import { problemOfSole } from '../headers.ts';

/** How one header, or several of one name, hold signatures and perhaps the signed time. */
export interface SignatureHeaderFormat {
  /** The header's name, in lower case. */
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** The text before each signature, such as `sha256=`. */
  readonly prefix: string;
  /** Set where the header may hold several values; those with another prefix are then ignored. */
  readonly separator?: string | undefined;
  /** The text before the signed time, where it stands in the same header. */
  readonly timestampPrefix?: string | undefined;
  /** The text before an Ed25519 signature, where the scheme has such keys beside its secrets. */
  readonly ed25519Prefix?: string | undefined;
  /** Whether the header may be sent several times, one signature each. */
  readonly repeated?: boolean | undefined;
}

export interface SignatureHeader {
  /** Those that could be read: at least one. */
  readonly signatures: readonly Signature[];
  readonly timestamp: string | undefined;
}

/** More than a rotation of keys needs; without a limit, one request could cause thousands of comparisons. */
const maxSignatures = 16;

/**
 * Reads the signatures of deliveries, decoded strictly. One that cannot be read counts only when there is no other: a
 * sender may add signatures of a kind that is not known here.
 */
export function signatureHeaderReader(
  format: SignatureHeaderFormat,
): (delivery: Delivery) => SignatureHeader | Rejected {
  const { signatureHeader: header, prefix, algorithm, encoding, timestampPrefix, ed25519Prefix } = format;
  const entriesOf = entryReader(format);
  return (delivery) => {
    const entries = entriesOf(delivery);
    if ('ok' in entries) return entries;
    if (entries.length > maxSignatures) {
      return rejected('malformed_credential', `the header ${header} holds too many signatures`);
    }
    const stamps = entries.filter(
      (entry) => timestampPrefix !== undefined && entry.startsWith(timestampPrefix),
    );
    if (stamps.length > 1) {
      return rejected('repeated_credential', `the header ${header} has two ${timestampPrefix ?? ''}`);
    }
    const signatures: Signature[] = [];
    addSignatures(signatures, entries, prefix, algorithm, encoding);
    if (ed25519Prefix !== undefined) addSignatures(signatures, entries, ed25519Prefix, 'ed25519', encoding);
    if (signatures.length > 0) return { signatures, timestamp: stamps[0]?.slice(timestampPrefix?.length) };
    return rejected(
      'malformed_credential',
      entries.every((entry) => !entry.startsWith(prefix))
        ? `the header ${header} has no signature '${prefix}…'`
        : `the signature in ${header} is not ${signatureForm(algorithm)} in ${encoding.startsWith('hex') ? 'hex' : encoding}`,
    );
  };
}

/** Adds those that can be read of the signatures with this prefix. */
function addSignatures(
  signatures: Signature[],
  entries: readonly string[],
  prefix: string,
  algorithm: Algorithm,
  encoding: Encoding,
): void {
  for (const entry of entries) {
    const bytes = entry.startsWith(prefix) ? decode(entry.slice(prefix.length), encoding) : undefined;
    if (bytes !== undefined && hasLengthOf(algorithm, bytes)) signatures.push({ algorithm, bytes });
  }
}

/** The values between the separators, without the blanks around them. */
function entryReader(format: SignatureHeaderFormat): (delivery: Delivery) => readonly string[] | Rejected {
  const { signatureHeader: header, repeated = false } = format;
  // A proxy may join repeated headers by commas (RFC 9110, section 5.3).
  const separator = format.separator ?? (repeated ? ',' : undefined);
  const isJoined = repeated ? (): boolean => false : joinedHeaderTest(format);
  return (delivery) => {
    const values = headerValues(delivery, header);
    const problem = repeated && values.length > 1 ? undefined : problemOfSole(values, header);
    if (problem !== undefined) return problem;
    if (values.some(isJoined)) {
      return rejected('repeated_credential', `the header ${header} holds more than one value`);
    }
    if (separator === undefined) return values;
    // Some senders write blanks around it, and some do not.
    return values.flatMap((value) => value.split(separator.trim() || separator)).map((entry) => entry.trim());
  };
}

/**
 * Whether a proxy made one value of two headers. Where a comma separates the entries of the header itself, nothing shows
 * it but a second time.
 */
function joinedHeaderTest(format: SignatureHeaderFormat): (value: string) => boolean {
  const { separator, prefix, timestampPrefix, ed25519Prefix } = format;
  if (separator === undefined) {
    return (value) => (value.startsWith(prefix) ? value.slice(prefix.length) : value).includes(',');
  }
  if (separator.includes(',')) return () => false;
  const starts = timestampPrefix === undefined ? [prefix, ed25519Prefix ?? prefix] : [timestampPrefix];
  const escaped = starts.map((start) => start.replace(/[^A-Za-z0-9]/g, String.raw`\$&`));
  const joined = new RegExp(String.raw`,\s*(?:${escaped.join('|')})`);
  return (value) => joined.test(value);
}

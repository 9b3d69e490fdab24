import type { Delivery } from '../delivery.ts';
import { ed25519Length } from '../crypto/ed25519.ts';
import { decode, type Encoding } from '../crypto/encoding.ts';
import { soleHeader } from '../sole-header.ts';
import { type Algorithm, type ParsedSignatures, macLength } from '../crypto/hmac.ts';
import { type Rejected, rejected } from '../scheme.ts';

interface SignatureFormat {
  readonly signatureHeader: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  readonly prefix: string;
  readonly separator?: string;
  readonly ed25519Prefix?: string;
}

/** More than a rotation of keys needs; without a limit, one request could cause thousands of comparisons. */
export const maxSignatures = 16;

/** The signatures of a delivery, decoded strictly; a malformed one causes a rejection. */
export function parseSignatures(format: SignatureFormat, delivery: Delivery): ParsedSignatures | Rejected {
  const { signatureHeader, separator, prefix, encoding, algorithm, ed25519Prefix } = format;
  const found = soleHeader(delivery, signatureHeader);
  if (!found.ok) return found;
  const bare = found.value.startsWith(prefix) ? found.value.slice(prefix.length) : found.value;
  if (separator === undefined && bare.includes(',')) {
    return rejected('repeated_credential', `the header ${signatureHeader} holds more than one value`);
  }
  const entries = separator === undefined ? [found.value] : found.value.split(separator);
  if (entries.length > maxSignatures) {
    return rejected('malformed_credential', `the header ${signatureHeader} holds too many signatures`);
  }
  const encodingName = encoding === 'hex' ? 'lower-case hex' : encoding;
  const read = (start: string, length: number): readonly Buffer[] | Rejected => {
    const ownEntries = entries.filter((entry) => entry.startsWith(start));
    const decoded = ownEntries
      .map((entry) => decode(entry.slice(start.length), encoding))
      .filter((bytes): bytes is Buffer => bytes?.length === length);
    return decoded.length === ownEntries.length
      ? decoded
      : rejected(
          'malformed_credential',
          `the signature in ${signatureHeader} is not ${length} bytes in ${encodingName}`,
        );
  };
  const macs = read(prefix, macLength[algorithm]);
  if ('ok' in macs) return macs;
  const ed25519 = ed25519Prefix === undefined ? [] : read(ed25519Prefix, ed25519Length);
  if ('ok' in ed25519) return ed25519;
  if (macs.length + ed25519.length > 0) return { macs, ed25519 };
  return rejected('malformed_credential', `the header ${signatureHeader} has no signature '${prefix}…'`);
}

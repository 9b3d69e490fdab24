import { type Algorithm, algorithms, type Encoding, encodings, timestampFormats } from '../scheme-options.ts';
import { isPlausible, parseTimestamp } from '../timestamp.ts';
import { hasLengthOf, verifier } from '../crypto/signature.ts';
import { decode } from '../crypto/symmetric-key.ts';
import type { Delivery } from '../delivery.ts';
import type { Fix, Search } from './finding.ts';
import type { KeyForm } from './secret-forms.ts';
import { type SignedContent, signedContents } from './signed-contents.ts';

/** A scheme in which the delivery would have verified. */
interface SignatureMatch extends SignedContent {
  readonly signature: CandidateSignature;
  readonly algorithm: Algorithm;
  readonly key: KeyForm;
}

/**
 * The scheme `custom` that accepts such deliveries; undefined where it cannot. `here`: the scheme that the secret was
 * given for.
 */
export function customFix(match: SignatureMatch, here: string): Fix | undefined {
  const { signature, algorithm, key, content, timestamp, id } = match;
  if (signature.prefix === undefined || match.timeUnit !== undefined) return undefined;
  const isInside = timestamp?.prefix !== undefined;
  if (isInside && (timestamp.header !== signature.header || signature.prefix === '')) return undefined;
  const format = timestampFormats.find(
    (candidate) => timestamp !== undefined && isPlausible(parseTimestamp(timestamp.value, candidate)),
  );
  if (timestamp !== undefined && format === undefined) return undefined;
  const usual = timestamp === undefined ? '{body}' : '{timestamp}.{body}';
  const { separator } = signature;
  return {
    here,
    scheme: 'custom',
    options: {
      signatureHeader: signature.header,
      algorithm: unless('hmac-sha256', algorithm),
      encoding: unless('hex', signature.encoding),
      prefix: unless('', signature.prefix),
      separator: isInside ? unless(',', separator) : separator,
      signedContent: unless(usual, content)?.replaceAll('\n', '\\n'),
      timestampPrefix: timestamp?.prefix,
      timestampHeader: isInside ? undefined : timestamp?.header,
      timestampFormat: unless('unix', format),
      nonceHeader: id?.header,
      secretEncoding: unless('utf8', key.encoding),
    },
    secret: key.secret,
  };
}

/** The value, where it is not the usual one, which need not be said. */
const unless = <T>(usual: T, value: T | undefined): T | undefined => (value === usual ? undefined : value);

/** Bytes that may be hashed for one explanation: about 30 ms, whatever was sent. */
const maxHashedBytes = 16 * 1024 * 1024;

/** One asymmetric check takes as long as hashing so many bytes. */
const asymmetricCost = 100_000;

/** The likeliest scheme that makes one of the signatures in the headers; undefined when none does, within the limit. */
export function searchSignature(
  delivery: Delivery,
  forms: readonly KeyForm[],
  search: Search,
): SignatureMatch | undefined {
  const candidates = candidateSignatures(delivery);
  let hashedBytes = 0;
  for (const content of signedContents(delivery)) {
    for (const key of forms) {
      for (const algorithm of key.algorithms) {
        const fitting = candidates.filter((candidate) => candidate.algorithms.includes(algorithm));
        if (fitting.length === 0) continue;
        const checks = key.key.material.type === 'secret' ? 0 : fitting.length;
        hashedBytes += 500 + checks * asymmetricCost + (content.body?.bytes ?? delivery.body).length;
        if (hashedBytes > maxHashedBytes) return undefined;
        search.tried += 1;
        const matches = verifier(algorithm, key.key, content.parts);
        const signature = fitting.find(({ bytes }) => matches(bytes));
        if (signature !== undefined) return { signature, algorithm, key, ...content };
      }
    }
  }
  return undefined;
}

/** A part of a header that has the form of a signature. */
interface CandidateSignature {
  readonly header: string;
  readonly bytes: Buffer;
  /** Those whose signatures have such a length. */
  readonly algorithms: readonly Algorithm[];
  readonly encoding: Encoding;
  /** The text before it in its entry of the header; undefined when there is text after it as well. */
  readonly prefix: string | undefined;
  /** Between the entries of the header, where it has several. */
  readonly separator: string | undefined;
}

const withoutSignature =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** A limit, so that a sender cannot decide how much work an explanation is. */
const mostCandidates = 8;

/** Every value in the headers that could be a signature. */
export function candidateSignatures(delivery: Pick<Delivery, 'rawHeaders'>): readonly CandidateSignature[] {
  const candidates: CandidateSignature[] = [];
  for (const [name, value] of delivery.rawHeaders) {
    if (withoutSignature.test(name) || value.length > 1000) continue;
    for (const match of value.matchAll(/[A-Za-z0-9+/_-]{26,}={0,2}/g)) {
      const signature = decodeSignature(match[0]);
      if (signature === undefined || candidates.length >= mostCandidates) continue;
      const end = match.index + match[0].length;
      const place = entryAround(value.slice(0, match.index), value.slice(end));
      candidates.push({ header: name.toLowerCase(), ...place, ...signature });
    }
  }
  return candidates;
}

/** What stands around a signature in the value of its header. */
function entryAround(before: string, after: string): Pick<CandidateSignature, 'prefix' | 'separator'> {
  // A single comma may belong to the prefix, as in 'v1,'.
  if (after === '' && /^[\w-]{0,20}[=,:]?$/.test(before)) return { prefix: before, separator: undefined };
  const [, separator = after.slice(0, 1), prefix = before] = /([;, ]) *([^;, ]*)$/.exec(before) ?? [];
  if (!/^[;, ]$/.test(separator) || (after !== '' && !after.startsWith(separator))) {
    return { prefix: after === '' ? before : undefined, separator: undefined };
  }
  return { prefix, separator };
}

function decodeSignature(
  text: string,
): Pick<CandidateSignature, 'bytes' | 'algorithms' | 'encoding'> | undefined {
  for (const encoding of encodings) {
    const bytes = decode(text, encoding);
    if (bytes === undefined) continue;
    const possible = algorithms.filter((algorithm) => hasLengthOf(algorithm, bytes));
    // Only DER has a length that is not fixed; it starts with a sequence.
    const fitting = possible.filter((name) => name !== 'ecdsa-p256-sha256-der' || bytes[0] === 0x30);
    if (fitting.length > 0) return { bytes, algorithms: fitting, encoding };
  }
  return undefined;
}

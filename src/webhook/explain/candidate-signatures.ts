import { hasLengthOf } from '../crypto/algorithms.ts';
import { decode } from '../crypto/signature.ts';
import type { Delivery } from '../delivery.ts';
import { type Algorithm, algorithms, type Encoding, encodings } from '../scheme-options.ts';

/**
 * A text in a header that may be a signature, with the options of a scheme that would read it there. `algorithms`
 * are those whose signatures may have its length. `prefix` is the text before it in its entry of the header, and
 * undefined where no prefix describes its place; `separator` is between the entries, and undefined for one alone.
 */
export interface CandidateSignature {
  readonly header: string;
  readonly bytes: Buffer;
  readonly algorithms: readonly Algorithm[];
  readonly encoding: Encoding;
  readonly prefix: string | undefined;
  readonly separator: string | undefined;
}

const headersWithoutSignature =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** These limit the work, which a sender must not decide. */
const mostCandidates = 8;
const longestValue = 1000;

/** Hex, base64 or base64url. SHA-1, the shortest digest, has 20 bytes: 27 characters of base64 without padding. */
const encodedSignature = /[A-Za-z0-9+/_-]{27,}={0,2}/g;

/** Finds the texts in all headers that have the form and length of a signature, the first eight at most. */
export function candidateSignatures(delivery: Pick<Delivery, 'rawHeaders'>): readonly CandidateSignature[] {
  const candidates: CandidateSignature[] = [];
  for (const [name, value] of delivery.rawHeaders) {
    if (headersWithoutSignature.test(name) || value.length > longestValue) continue;
    for (const match of value.matchAll(encodedSignature)) {
      if (candidates.length === mostCandidates) return candidates;
      const [text] = match;
      const signature = decodeSignature(text);
      if (signature === undefined) continue;
      const place = placeBetween(value.slice(0, match.index), value.slice(match.index + text.length));
      candidates.push({ header: name.toLowerCase(), ...place, ...signature });
    }
  }
  return candidates;
}

/**
 * Describes the place of a signature by the texts before and after it in the header. It may be the whole value, with a prefix that may
 * end in a comma (`sha256=SIG`, `v1,SIG`); an entry of Standard Webhooks, with a space between entries (`v1,SIG v1a,SIG`); an entry of
 * any other list (`t=1, v1=SIG`, `SIG;SIG`); the end of another text, which is the prefix then (`{"sig":"SIG`); or have text after it
 * (`sig="SIG"`), so that no prefix describes it.
 */
function placeBetween(before: string, after: string): Pick<CandidateSignature, 'prefix' | 'separator'> {
  const isAlone = after === '' && /^[\w-]{0,20}[=,:]?$/.test(before);
  if (isAlone) return { prefix: before, separator: undefined };
  const versionPrefix = /(?:^| )(v\d+a?,)$/.exec(before)?.[1];
  if (versionPrefix !== undefined && /^(?: |$)/.test(after)) return { prefix: versionPrefix, separator: ' ' };
  const entryStart = /([;, ]) *([^;, ]*)$/.exec(before);
  const separator = entryStart?.[1] ?? after.slice(0, 1);
  const isWholeEntry = /^[;, ]$/.test(separator) && (after === '' || after.startsWith(separator));
  if (isWholeEntry) return { prefix: entryStart?.[2] ?? before, separator };
  return { prefix: after === '' ? before : undefined, separator: undefined };
}

function decodeSignature(
  text: string,
): Pick<CandidateSignature, 'bytes' | 'algorithms' | 'encoding'> | undefined {
  for (const encoding of encodings) {
    const bytes = decode(text, encoding);
    if (bytes === undefined) continue;
    const ofLength = algorithms.filter((algorithm) => hasLengthOf(algorithm, bytes));
    // Only a signature in DER has a length that varies with its bytes; it starts with the tag of a sequence, 0x30.
    const fitting = ofLength.filter((name) => name !== 'ecdsa-p256-sha256-der' || bytes[0] === 0x30);
    if (fitting.length > 0) return { bytes, algorithms: fitting, encoding };
  }
  return undefined;
}

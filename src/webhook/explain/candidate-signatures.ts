import { hasLengthOf } from '../crypto/algorithms.ts';
import { decode } from '../crypto/signature.ts';
import type { Delivery } from '../delivery.ts';
import { type Algorithm, algorithms, type Encoding, encodings } from '../scheme-options.ts';

export interface CandidateSignature {
  readonly header: string;
  readonly bytes: Buffer;
  readonly algorithms: readonly Algorithm[];
  readonly encoding: Encoding;
  /** The text before the signature in its entry of the header; undefined when text follows it as well. */
  readonly prefix: string | undefined;
  readonly separator: string | undefined;
}

const withoutSignature =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** Bounds the work, which a sender must not decide. */
const mostCandidates = 8;

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

import type { Delivery } from '../delivery.ts';
import { decode, type Encoding } from '../crypto/encoding.ts';
import { type Algorithm, algorithms, macLength } from '../crypto/hmac.ts';

/** A part of a header that has the form of a MAC. */
export interface CandidateMac {
  readonly header: string;
  readonly bytes: Buffer;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** Hex in capital letters. */
  readonly capitals: boolean;
  /** The text before it in its header; undefined when there is text after it as well. */
  readonly prefix: string | undefined;
}

const withoutSignature =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** A limit, so that a sender cannot decide how much work an explanation is. */
const mostCandidates = 8;

/** Every value in the headers that could be an HMAC with SHA-1, SHA-256 or SHA-512. */
export function candidateMacs(delivery: Pick<Delivery, 'rawHeaders'>): readonly CandidateMac[] {
  const candidates: CandidateMac[] = [];
  for (const [name, value] of delivery.rawHeaders) {
    if (withoutSignature.test(name) || value.length > 1000) continue;
    for (const match of value.matchAll(/[A-Za-z0-9+/_-]{26,}={0,2}/g)) {
      const before = value.slice(0, match.index);
      const isLast = match.index + match[0].length === value.length;
      const mac = decodeMac(match[0]);
      if (mac === undefined || candidates.length >= mostCandidates) continue;
      candidates.push({ header: name.toLowerCase(), prefix: isLast ? before : undefined, ...mac });
    }
  }
  return candidates;
}

function decodeMac(text: string): Omit<CandidateMac, 'header' | 'prefix'> | undefined {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    const bytes = decode(encoding === 'hex' ? text.toLowerCase() : text, encoding);
    const algorithm = algorithms.find((name) => macLength[name] === bytes?.length);
    if (bytes === undefined || algorithm === undefined) continue;
    return { bytes, algorithm, encoding, capitals: encoding === 'hex' && text !== text.toLowerCase() };
  }
  return undefined;
}

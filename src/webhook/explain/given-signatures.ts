import { decode, type Encoding } from '../encoding.ts';
import type { Delivery } from '../delivery.ts';
import { type Algorithm, algorithms, macLength } from '../hmac.ts';

/** Something in a header that has the form of a MAC. */
export interface GivenSignature {
  readonly header: string;
  readonly bytes: Buffer;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** Hex in capital letters. */
  readonly capitals: boolean;
  /** What stands before it in its header; undefined when something stands behind it as well. */
  readonly prefix: string | undefined;
}

const uninteresting =
  /^(host|connection|date|user-agent|accept.*|content-.*|cookie|x-forwarded-.*|via|forwarded)$/i;

/** At most this many are looked at: a sender must not decide how much work an explanation is. */
const maxGiven = 8;

/** Every value in the headers that could be an HMAC with SHA-1, SHA-256 or SHA-512. */
export function givenSignatures(delivery: Pick<Delivery, 'rawHeaders'>): readonly GivenSignature[] {
  const found: GivenSignature[] = [];
  for (const [name, value] of delivery.rawHeaders) {
    if (uninteresting.test(name) || value.length > 1000) continue;
    for (const match of value.matchAll(/[A-Za-z0-9+/_-]{26,}={0,2}/g)) {
      const before = value.slice(0, match.index);
      const ends = match.index + match[0].length === value.length;
      const one = read(match[0]);
      if (one === undefined || found.length >= maxGiven) continue;
      found.push({ header: name.toLowerCase(), prefix: ends ? before : undefined, ...one });
    }
  }
  return found;
}

function read(
  text: string,
): Pick<GivenSignature, 'bytes' | 'algorithm' | 'encoding' | 'capitals'> | undefined {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    const bytes = decode(encoding === 'hex' ? text.toLowerCase() : text, encoding);
    const algorithm = algorithms.find((name) => macLength[name] === bytes?.length);
    if (bytes === undefined || algorithm === undefined) continue;
    return { bytes, algorithm, encoding, capitals: encoding === 'hex' && text !== text.toLowerCase() };
  }
  return undefined;
}

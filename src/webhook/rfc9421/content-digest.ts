import { createHash } from 'node:crypto';
import { equalInConstantTime } from '../crypto/constant-time-equal.ts';
import { parseDictionary } from './structured-fields.ts';

const hashes: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** `Content-Digest` for a body (RFC 9530). */
export const contentDigest = (body: Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** Whether the header states a digest of a known algorithm, and every digest of a known algorithm is the body's. */
export function digestMatches(header: string, body: Uint8Array): boolean {
  const known = [...(parseDictionary(header) ?? [])].flatMap(([name, member]) => {
    const hash = hashes.get(name);
    return hash === undefined ? [] : [{ hash, member }];
  });
  return (
    known.length > 0 &&
    known.every(
      ({ hash, member }) =>
        'bare' in member &&
        member.bare.kind === 'bytes' &&
        equalInConstantTime(createHash(hash).update(body).digest(), member.bare.value),
    )
  );
}

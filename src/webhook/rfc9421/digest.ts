import { createHash } from 'node:crypto';
import { equal } from '../equal.ts';
import { parseDictionary } from './structured.ts';

const hashes: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-512', 'sha512'],
]);

/** `Content-Digest` for a body (RFC 9530). */
export const contentDigest = (body: Uint8Array): string =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;

/** Whether the header states a digest that we know, and every one that we know is the body's. */
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
        equal(createHash(hash).update(body).digest(), member.bare.value),
    )
  );
}

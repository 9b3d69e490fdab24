import type { Algorithm } from '../crypto/algorithm.ts';
import { verifier } from '../crypto/signature.ts';
import type { Delivery } from '../delivery.ts';
import { candidateSignatures, type CandidateSignature } from './candidate-signatures.ts';
import type { Search } from './finding.ts';
import type { KeyForm } from './secret/key-forms.ts';
import { type SignedContent, signedContents } from './signed-contents.ts';

/** A scheme in which the delivery would have verified. */
export interface SignatureMatch extends SignedContent {
  readonly signature: CandidateSignature;
  readonly algorithm: Algorithm;
  readonly key: KeyForm;
}

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

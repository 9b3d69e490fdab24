import { hashText } from '../data/seeded-random.ts';

/** The same for the same seed, lead and place among the targets. */
export function deliveryId(seed: number, targetIndex: number, leadId: string): string {
  const half = (salt: string): string =>
    hashText(`${salt} ${targetIndex} ${leadId}`, seed).toString(32).padStart(7, '0');
  return `msg_${half('a')}${half('b')}`;
}

import type { CheckSession } from './session.ts';

/** A receiver may acknowledge a moment before it stores; in milliseconds. */
const patienceMs = 2000;
const betweenMs = 200;

/** How often a lead is stored, once it is; a text says why that is not known. Undefined without an oracle. */
export async function storedCount(
  { oracle, clock, wire: { signal } }: CheckSession,
  leadId: string,
): Promise<number | string | undefined> {
  if (oracle === undefined) return undefined;
  const until = clock.steady() + patienceMs;
  let count = await oracle(leadId);
  while (count === 0 && clock.steady() < until) {
    await clock.sleep(betweenMs, signal);
    count = await oracle(leadId);
  }
  if (count !== 1) return count;
  // A second copy may come later than the first.
  await clock.sleep(betweenMs, signal);
  return oracle(leadId);
}

export const needsOracle = 'what is stored cannot be seen from outside';

export const oracleHint = 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored';

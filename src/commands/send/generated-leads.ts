import type { Context } from '../../context.ts';
import { testIdPrefixes } from '../../lead/raw-lead.ts';
import { leadText, outline } from '../../sandbox/data/generate-lead.ts';
import { hashText } from '../../sandbox/data/seeded-random.ts';
import { type LeadSource, randomName } from '../../sender/sender.ts';

const minuteMs = 60_000;
/** Leads of a seed are always the same, their times too: one in each minute from then on. */
const firstSeeded = Date.UTC(2026, 0, 1);

/**
 * Makes leads as the sandbox does; `count` may be Infinity. The leads of a seed have its ids and are always the same; without
 * one they are new in each run, created now.
 */
export async function* generatedLeads(
  count: number,
  seed: string | undefined,
  { clock, random }: Pick<Context, 'clock' | 'random'>,
): LeadSource {
  const runName = randomName(random);
  const seedNumber = hashText(seed ?? runName);
  for (let seq = 1; seq <= count; seq += 1) {
    const seeded = outline(seedNumber, seq);
    const id = seed === undefined ? `${testIdPrefixes.send}${runName}-${seq}` : seeded.id;
    const createdAt = seed === undefined ? clock.now() : firstSeeded + seq * minuteMs;
    const body = Buffer.from(leadText(seedNumber, seq, { ...seeded, id }, createdAt));
    yield await Promise.resolve({ leadId: id, body });
  }
}

import type { Context } from '../../context.ts';
import { compact } from '../../json/bytes.ts';
import { changeMember, type MemberChange } from '../../json/members.ts';
import { recordOf } from '../../json/scanned-record.ts';
import { testIdPrefixes } from '../../lead/raw-lead.ts';
import { leadText, outline } from '../../sandbox/data/generate-lead.ts';
import { hashText } from '../../sandbox/data/seeded-random.ts';
import { type LeadSource, randomName, type SourceLead } from '../../sender/sender.ts';

const minuteMs = 60_000;
/** Leads of a seed are always the same, their times too: one in each minute from then on. */
const firstSeeded = Date.UTC(2026, 0, 1);

/**
 * Makes leads as the sandbox does; `count` may be Infinity. The leads of a seed are always the same, with the ids that the
 * sandbox gives for it; without one they are new in each run, created now.
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

export interface LeadChanges {
  readonly changes: readonly MemberChange[];
  readonly newIds: boolean;
  readonly random: () => number;
  readonly onMissing: (path: string) => void;
}

/** `--set`, `--unset` and `--new-id`; every other token of a lead keeps its bytes. */
export async function* changedLeads(source: LeadSource, options: LeadChanges): LeadSource {
  const runName = randomName(options.random);
  let count = 0;
  for await (const lead of source) {
    count += 1;
    yield changed(lead, options, `${testIdPrefixes.send}${runName}-${count}`);
  }
}

function changed({ leadId, body }: SourceLead, options: LeadChanges, newId: string): SourceLead {
  const { changes, newIds, onMissing } = options;
  let json: Buffer = compact(body);
  for (const change of changes) {
    const result = changeMember(json, change);
    if (result === undefined) onMissing(change.path.join('.'));
    else json = result;
  }
  const setsId = changes.some(({ path }) => path.length === 1 && path[0] === 'id');
  if (newIds) json = changeMember(json, { path: ['id'], value: JSON.stringify(newId) }) ?? json;
  return { leadId: newIds ? newId : setsId ? recordOf(json)?.id : leadId, body: json };
}

import type { Context } from '../../context.ts';
import { compact } from '../../json/bytes.ts';
import { changeMember, type MemberChange } from '../../json/members.ts';
import { recordOf } from '../../json/scanned-record.ts';
import { testIdPrefixes } from '../../lead/raw-lead.ts';
import { leadText, outline } from '../../sandbox/data/generate-lead.ts';
import { hashText } from '../../sandbox/data/seeded-random.ts';
import { type LeadSource, randomName, type SourceLead } from '../../sender/sender.ts';
import type { ResolvedTarget } from '../flags/delivery-target.ts';
import type { SendOptions } from './command.ts';
import { leadsOfFile } from './lead-file.ts';

/** Opens what the flags name, with the changes that they ask for. */
export async function openSource(
  options: SendOptions,
  { isLocal, url }: ResolvedTarget,
  context: Context,
): Promise<LeadSource> {
  const { lead, id, from, seed, dryRun } = options;
  const isStored = id.length > 0 || from !== undefined;
  const otherMachine = isLocal || options.yes ? undefined : url.hostname;
  let source: LeadSource;
  if (lead !== undefined) source = leadsOfFile(lead, context);
  else if (!isStored) source = generatedLeads(sampleCount(options), seed, context);
  else {
    const { leadsById, leadsOfInbox, leadsOfService } = await import('./stored-leads.ts');
    if (from === 'service') source = leadsOfService(options, context);
    else if (from === 'inbox') source = leadsOfInbox(options, otherMachine, context);
    else source = leadsById(options, dryRun === undefined ? otherMachine : undefined, context);
  }
  const isChanged = options.newId || options.set.length + options.unset.length > 0;
  return isChanged ? changedLeads(source, options, context) : source;
}

const sampleCount = ({ sample, for: forMs, count }: SendOptions): number =>
  sample ?? (forMs === undefined && count === undefined ? 1 : Infinity);

const minuteMs = 60_000;
/** Leads of a seed are always the same, their times too: one in each minute from then on. */
const seededSince = Date.UTC(2026, 0, 1);

/**
 * Makes leads as the sandbox does; `count` may be Infinity. The leads of a seed are always the same, with the ids that the
 * sandbox gives for it; without one they are new in each run, created now.
 */
async function* generatedLeads(
  count: number,
  seed: string | undefined,
  { clock, random }: Pick<Context, 'clock' | 'random'>,
): LeadSource {
  const runName = randomName(random);
  const seedNumber = hashText(seed ?? runName);
  for (let seq = 1; seq <= count; seq += 1) {
    const seeded = outline(seedNumber, seq);
    const id = seed === undefined ? `${testIdPrefixes.send}${runName}-${seq}` : seeded.id;
    const createdAt = seed === undefined ? clock.now() : seededSince + seq * minuteMs;
    const body = Buffer.from(leadText(seedNumber, seq, { ...seeded, id }, createdAt));
    yield await Promise.resolve({ leadId: id, body });
  }
}

/** Applies `--set`, `--unset` and `--new-id`; every other token of a lead keeps its bytes. */
async function* changedLeads(source: LeadSource, options: SendOptions, context: Context): LeadSource {
  const runName = randomName(context.random);
  const changes = [...options.set, ...options.unset];
  let count = 0;
  for await (const lead of source) {
    count += 1;
    const newId = options.newId ? `${testIdPrefixes.send}${runName}-${count}` : undefined;
    yield changed(lead, changes, newId, context);
  }
}

function changed(
  { leadId, body }: SourceLead,
  changes: readonly MemberChange[],
  newId: string | undefined,
  { messages }: Pick<Context, 'messages'>,
): SourceLead {
  let json: Buffer = compact(body);
  for (const change of changes) {
    const result = changeMember(json, change);
    const path = change.path.join('.');
    if (result === undefined) messages.note(`unset ${path}`, `--unset: there is no '${path}' in some lead`);
    else json = result;
  }
  const setsId = changes.some(({ path }) => path.length === 1 && path[0] === 'id');
  if (newId !== undefined) {
    const withNewId = changeMember(json, { path: ['id'], value: JSON.stringify(newId) });
    return { leadId: newId, body: withNewId ?? json };
  }
  return { leadId: setsId ? recordOf(json)?.id : leadId, body: json };
}

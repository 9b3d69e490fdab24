import type { Context } from '../../../context.ts';
import type { SendOptions } from '../options.ts';
import type { LeadSource } from './source-lead.ts';

/** The leads that the flags ask for, changed as they say. Loads no more than this source needs. */
export async function openSource(options: SendOptions, context: Context): Promise<LeadSource> {
  const source = await chosenSource(options, context);
  const changes = [...options.set, ...options.unset];
  if (changes.length === 0 && !options.newId) return source;
  const { changedLeads } = await import('./change-lead.ts');
  return changedLeads(source, {
    changes,
    newIds: options.newId,
    random: context.random,
    onMissing: (path) =>
      context.messages.note(`unset ${path}`, `--unset: there is no '${path}' in some lead`),
  });
}

async function chosenSource(options: SendOptions, context: Context): Promise<LeadSource> {
  const { lead, id, from } = options;
  if (lead !== undefined) {
    const { leadsOfFile } = await import('./lead-file.ts');
    return leadsOfFile(lead, context);
  }
  if (id.length > 0) {
    const { leadsById } = await import('./leads-by-id.ts');
    return leadsById(options, context);
  }
  if (from !== undefined) {
    const { leadsOfInbox, leadsOfService } = await import('./matching-leads.ts');
    return from === 'inbox' ? leadsOfInbox(options, context) : leadsOfService(options, context);
  }
  const { generatedLeads } = await import('./generated-leads.ts');
  return generatedLeads(sampleCount(options), options.seed, context);
}

/** As many as a run with `--for` or `--count` takes, otherwise one. */
function sampleCount({ sample, for: forMs, count }: SendOptions): number {
  if (sample !== undefined) return sample;
  return forMs === undefined && count === undefined ? 1 : Infinity;
}

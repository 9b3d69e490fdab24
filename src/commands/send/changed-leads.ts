import { compact } from '../../json/bytes.ts';
import { changeMember, type MemberChange } from '../../json/change-members.ts';
import { recordOf } from '../../json/scanned-record.ts';
import { testIdPrefixes } from '../../lead/raw-lead.ts';
import { type LeadSource, randomName, type SourceLead } from '../../sender/sender.ts';

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

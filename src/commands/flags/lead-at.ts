import type { Settings } from '../../config/settings.ts';
import type { ValueType } from '../../config/value-types.ts';
import { parsePointer } from '../../json/exact.ts';
import type { LeadAt } from '../../lead/read-leads.ts';
import type { Policy } from '../../webhook/check-delivery.ts';

/** `--lead-at`: a JSON Pointer, of which an empty one is the body, or `auto`. */
export const leadPointer: ValueType<LeadAt> = {
  parse: (typed) => (typed === 'auto' ? typed : parsePointer(typed)),
  expected: 'auto or a JSON Pointer such as /data',
};

/** Where the leads are in a body, and what says so: the flag, or the profile. */
export type LeadPlace = Pick<Policy, 'leadAt' | 'leadAtNames'>;

export const leadPlaceOf = ({ webhookLead = 'auto' }: Settings, flag?: LeadAt): LeadPlace => {
  const option = '--lead-at';
  return flag === undefined
    ? // The profile's pointer was checked when the file was read.
      {
        leadAt: leadPointer.parse(webhookLead),
        leadAtNames: { saidBy: 'the setting webhook.lead', option },
      }
    : { leadAt: flag, leadAtNames: { saidBy: option, option } };
};

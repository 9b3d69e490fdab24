import type { Settings } from '../../config/load-settings.ts';
import type { ValueType } from '../../config/value-types.ts';
import { parsePointer } from '../../json/exact.ts';
import { idFieldNamed, type LeadAt, type LeadAtNames } from '../../lead/read-leads.ts';

/** `--lead-at`: a JSON Pointer, of which an empty one is the body, or `auto`. */
export const leadPointer: ValueType<LeadAt> = {
  parse: (typed) => (typed === 'auto' ? typed : parsePointer(typed)),
  expected: 'auto or a JSON Pointer such as /data',
};

/** Where the leads are in a body, what says so (the flag, or the profile), and which field is their id. */
export type LeadPlace = ReturnType<typeof leadPlaceOf>;

export function leadPlaceOf({ webhookLead = 'auto', webhookId }: Settings, flag?: LeadAt) {
  const option = '--lead-at';
  const leadAtNames: LeadAtNames = {
    saidBy: flag === undefined ? 'the setting webhook.lead' : option,
    option,
  };
  return {
    // The profile's pointer was checked when the file was read.
    leadAt: flag ?? leadPointer.parse(webhookLead) ?? 'auto',
    leadAtNames,
    idField: idFieldNamed(webhookId, 'the setting webhook.id'),
  };
}

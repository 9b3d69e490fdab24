import type { SandboxLead } from './lead-set.ts';

interface Shown {
  readonly status: string;
  readonly field: string;
  readonly bytes: Uint8Array;
}

const shown = new WeakMap<SandboxLead, Shown>();

/**
 * The record as an item of the list operation, followed by a comma: its own bytes with the delivery status put in
 * last (specification, section 2), unless it names one itself. Kept until the status changes.
 */
export function itemBytes(lead: SandboxLead, field: string): Uint8Array {
  const known = shown.get(lead);
  if (known !== undefined && known.status === lead.status && known.field === field) return known.bytes;
  const text = lead.text();
  const bytes =
    lead.ownStatus === true
      ? Buffer.concat([text, Buffer.from(',')])
      : Buffer.concat([
          text.subarray(0, text.lastIndexOf(0x7d)),
          Buffer.from(`,${JSON.stringify(field)}:${JSON.stringify(lead.status)}},`),
        ]);
  shown.set(lead, { status: lead.status, field, bytes });
  return bytes;
}

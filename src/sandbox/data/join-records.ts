import type { SandboxLead } from './lead-set.ts';

/**
 * `head`, the records with commas between them, `tail`: each record in its own bytes with the delivery status put in
 * last (specification, section 2), unless it names one itself. One buffer, filled once: pages are large and many.
 */
export function joinRecords(
  leads: readonly SandboxLead[],
  statusField: string,
  head: string,
  tail: string,
): Buffer {
  const endings = new Map<string, Buffer>();
  const endingOf = (lead: SandboxLead): Buffer => {
    if (lead.ownStatus === true) return plainEnding;
    const known = endings.get(lead.status);
    if (known !== undefined) return known;
    const ending = Buffer.from(`,${JSON.stringify(statusField)}:${JSON.stringify(lead.status)}},`);
    endings.set(lead.status, ending);
    return ending;
  };
  const opening = Buffer.from(head);
  const closing = Buffer.from(tail);
  let length = opening.length + closing.length;
  for (const lead of leads) length += lead.text().length + endingOf(lead).length;
  const page = Buffer.allocUnsafe(length);
  page.set(opening, 0);
  let at = opening.length;
  for (const lead of leads) {
    const text = lead.text();
    page.set(text, at);
    // The status goes where the record's last brace stands, and brings a brace of its own.
    at += text.length - (lead.ownStatus === true ? 0 : 1);
    const ending = endingOf(lead);
    page.set(ending, at);
    at += ending.length;
  }
  if (leads.length > 0) at -= 1;
  page.set(closing, at);
  return page.subarray(0, at + closing.length);
}

const plainEnding = Buffer.from(',');

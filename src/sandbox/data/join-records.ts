import type { SandboxLead } from './lead-set.ts';

/**
 * `head`, the records with commas between them, `tail`. Each record is in its own bytes, with the delivery status as its
 * last field (specification, section 2) unless it has a status of its own. One buffer, filled once: pages are large.
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
    const kept = endings.get(lead.status);
    if (kept !== undefined) return kept;
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
  let offset = opening.length;
  for (const lead of leads) {
    const text = lead.text();
    page.set(text, offset);
    // The status replaces the record's last brace, and ends with a brace of its own.
    offset += text.length - (lead.ownStatus === true ? 0 : 1);
    const ending = endingOf(lead);
    page.set(ending, offset);
    offset += ending.length;
  }
  // The last record's comma.
  if (leads.length > 0) offset -= 1;
  page.set(closing, offset);
  return page.subarray(0, offset + closing.length);
}

const plainEnding = Buffer.from(',');

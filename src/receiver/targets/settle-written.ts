import { createReadStream } from 'node:fs';
import { linesIn } from '../../files/lines.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { readLead } from '../../lead/read-lead.ts';

/**
 * Settles the leads that an earlier process wrote to the output file and was killed before it could say so: their
 * retries must not be written a second time.
 */
export async function settleWritten(path: string, target: string, inbox: Inbox): Promise<void> {
  const open = new Map((await inbox.unsettled(target)).map((entry) => [entry.leadId, entry]));
  if (open.size === 0) return;
  for await (const lines of linesIn(createReadStream(path) as AsyncIterable<Buffer>)) {
    for (const { bytes } of lines) {
      const read = readLead(bytes);
      const entry = read.ok ? open.get(read.lead.id ?? '') : undefined;
      if (entry !== undefined) await inbox.settle(entry, target);
    }
  }
}

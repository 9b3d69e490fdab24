import { createReadStream } from 'node:fs';
import { linesIn } from '../../files/lines.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { readLead } from '../../lead/read-lead.ts';
import { appendTargetName } from './append.ts';

/**
 * Settles the leads in the output file `path` that an earlier process wrote but could not settle before it was killed:
 * their next deliveries must not be written a second time.
 */
export async function settleWrittenLeads(
  path: string,
  inbox: Pick<Inbox, 'unsettled' | 'settle'>,
): Promise<void> {
  const target = appendTargetName(path);
  const unsettled = new Map((await inbox.unsettled(target)).map((entry) => [entry.leadId, entry]));
  if (unsettled.size === 0) return;
  for await (const lines of linesIn(createReadStream(path) as AsyncIterable<Buffer>)) {
    for (const { bytes } of lines) {
      const read = readLead(bytes);
      const entry = read.ok ? unsettled.get(read.lead.id ?? '') : undefined;
      if (entry !== undefined) await inbox.settle(entry, target);
    }
  }
}

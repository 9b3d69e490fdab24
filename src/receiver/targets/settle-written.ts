import { createReadStream } from 'node:fs';
import { linesIn } from '../../files/lines.ts';
import type { Inbox, StoredRef } from '../../inbox/inbox.ts';
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
  const unsettled = new Map<string, StoredRef>();
  for await (const stored of inbox.unsettled(target)) unsettled.set(stored.leadId, stored);
  if (unsettled.size === 0) return;
  for await (const lines of linesIn(createReadStream(path) as AsyncIterable<Buffer>)) {
    const written = lines.flatMap(({ bytes }) => {
      const read = readLead(bytes);
      const stored = read.ok ? unsettled.get(read.lead.id ?? '') : undefined;
      return stored === undefined ? [] : [{ ...stored, target }];
    });
    if (written.length > 0) await inbox.settle(written);
  }
}

import * as z from 'zod/mini';
import type { Context } from '../../context.ts';
import { compact } from '../../json/compact.ts';
import { recordWriter, streamSink } from '../../output/records.ts';
import type { Outcome } from '../command-spec.ts';
import { oneOf, pointInTime, text } from '../values.ts';
import { withInbox } from './with-inbox.ts';

export const options = z.object({
  format: oneOf(['ndjson', 'json', 'csv']),
  since: z.optional(pointInTime()),
  until: z.optional(pointInTime()),
  inbox: z.optional(text()),
});

export async function run(given: z.output<typeof options>, context: Context): Promise<Outcome> {
  const { stdout, clock, messages } = context;
  const now = clock.now();
  const writer = await recordWriter(given.format, streamSink(stdout), { terminal: stdout.isTTY === true });
  const written = await withInbox(given.inbox, context, async (inbox) => {
    let leads = 0;
    for await (const { body } of inbox.leads({ since: given.since?.(now), until: given.until?.(now) })) {
      await writer.write([{ bytes: compact(body) }]);
      leads += 1;
    }
    return leads;
  });
  await writer.end();
  if (written !== undefined) messages.say(`${written} ${written === 1 ? 'lead' : 'leads'}`);
  return 'done';
}

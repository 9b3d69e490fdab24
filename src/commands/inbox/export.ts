import type { Context, Outcome } from '../../context.ts';
import { compact } from '../../json/bytes.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { resolveWindow } from '../flags/resolve-filter.ts';
import type { InboxExportOptions } from './command.ts';
import { withInboxReader } from './with-inbox.ts';

export async function run(options: InboxExportOptions, context: Context): Promise<Outcome> {
  const { stdout, clock, messages } = context;
  const writer = await recordWriter(options.format, streamSink(stdout), {
    terminal: stdout.isTTY === true,
    idName: (await context.settings()).webhookId,
  });
  const written = await withInboxReader(options, context, async (inbox) => {
    let leads = 0;
    const { since, until } = resolveWindow(options, clock.now(), messages);
    const state = options.verdict === 'accepted' ? undefined : options.verdict;
    for await (const { body } of inbox.leads({ state, since, until })) {
      await writer.write([{ bytes: compact(body) }]);
      leads += 1;
    }
    return leads;
  });
  await writer.end();
  if (written !== undefined) messages.say(`${written} ${written === 1 ? 'lead' : 'leads'}`);
  return 'done';
}

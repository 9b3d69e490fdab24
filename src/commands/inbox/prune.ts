import type { Context, Outcome } from '../../context.ts';
import { noteText, UsageError } from '../../errors.ts';
import type { InboxPruneOptions } from './command.ts';
import { withInbox } from './with-inbox.ts';

export async function run(options: InboxPruneOptions, context: Context): Promise<Outcome> {
  const { before } = options;
  if (before === undefined) {
    throw new UsageError('--before says what goes: a time, or how old', {
      hint: "such as 'leads inbox prune --before 30d'",
    });
  }
  const { messages } = context;
  await withInbox(options, context, async (inbox) => {
    const { zone } = await context.settings();
    const dropped = await inbox.prune(before.at(context.clock.now(), zone));
    const notCompacted = dropped > 0 ? await inbox.compact() : undefined;
    const deliveries = dropped === 1 ? 'delivery' : 'deliveries';
    messages.say(`${dropped} ${deliveries} dropped; the ids of their leads stay known`);
    // A process that uses the inbox now may be gone at the next prune, so that is no reason to warn.
    if (notCompacted !== undefined)
      messages[notCompacted.kind === 'inbox-in-use' ? 'say' : 'warn'](noteText(notCompacted));
  });
  return 'done';
}

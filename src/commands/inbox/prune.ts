import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { InboxPruneOptions } from './options.ts';
import { withInbox } from './with-inbox.ts';

export async function run(options: InboxPruneOptions, context: Context): Promise<Outcome> {
  const { before } = options;
  if (before === undefined) {
    throw new UsageError('--before says what goes: a time, or how old', {
      hint: "such as 'leads inbox prune --before 30d'",
    });
  }
  const gone = await withInbox(options, context, async (inbox) => {
    const { zone } = await context.settings();
    const dropped = await inbox.prune(before.at(context.clock.now(), zone));
    if (dropped > 0) await inbox.compact();
    return dropped;
  });
  if (gone !== undefined) {
    context.messages.say(
      `${gone} ${gone === 1 ? 'delivery' : 'deliveries'} dropped; the ids of their leads stay known`,
    );
  }
  return 'done';
}

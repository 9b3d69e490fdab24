import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { NotOverwritten } from '../../inbox/problems.ts';
import { describeWarning } from '../../messages/command-line.ts';
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
    const end = before.at(context.clock.now(), zone);
    const dropped = await inbox.prune(end);
    const left = dropped > 0 ? await inbox.compact() : undefined;
    return { dropped, left };
  });
  if (gone !== undefined) {
    const { dropped, left } = gone;
    context.messages.say(
      `${dropped} ${dropped === 1 ? 'delivery' : 'deliveries'} dropped; the ids of their leads stay known`,
    );
    // Another process uses it: a night later it may not.
    if (left !== undefined) context.messages[isInUse(left) ? 'say' : 'warn'](describeWarning(left));
  }
  return 'done';
}

const isInUse = (left: NotOverwritten): boolean =>
  left.kind !== 'inbox-file-not-overwritten' || left.fault.kind === 'sqlite-locked';

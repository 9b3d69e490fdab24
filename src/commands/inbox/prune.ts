import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { NotOverwritten } from '../../inbox/problems.ts';
import { describeWarning } from '../../messages/command-line.ts';
import { decodeLeaf } from '../../statement/leaf.ts';
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
    return { dropped, left, months: await monthsWithoutStatement(inbox, end) };
  });
  if (gone !== undefined) {
    const { dropped, left, months } = gone;
    context.messages.say(
      `${dropped} ${dropped === 1 ? 'delivery' : 'deliveries'} dropped; the ids of their leads stay known`,
    );
    // Another process uses it: a night later it may not.
    if (left !== undefined) context.messages[isInUse(left) ? 'say' : 'warn'](describeWarning(left));
    if (months.length > 0) context.messages.say(`no statement was made of leads in ${months.join(', ')}`);
  }
  return 'done';
}

const isInUse = (left: NotOverwritten): boolean =>
  left.kind !== 'inbox-file-not-overwritten' || left.fault.kind === 'sqlite-locked';

/** In UTC. None where no statement was ever made: nobody asks for them. */
async function monthsWithoutStatement({ ledger }: Inbox, end: number): Promise<readonly string[]> {
  const made = (await ledger?.statements()) ?? [];
  const months = new Set<string>();
  if (ledger === undefined || made.length === 0) return [];
  for await (const leaves of ledger.leaves()) {
    for (const { leaf } of leaves) {
      const { kind, receivedAt = end } = decodeLeaf(leaf) ?? {};
      const isIn = made.some(({ since, until }) => since <= receivedAt && receivedAt < until);
      if (receivedAt < end && kind !== 'test' && !isIn)
        months.add(new Date(receivedAt).toISOString().slice(0, 7));
    }
  }
  return [...months].sort();
}

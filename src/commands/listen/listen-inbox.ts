import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { type InboxLocation, openInbox } from '../../inbox/open-inbox.ts';
import { inboxRequirements } from '../../receiver/inbox-requirements.ts';
import { leaseMarginMs } from '../../receiver/redelivery/retry-delivery.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { inboxWords, isInboxNamed, resolveInbox } from '../flags/inbox/resolve-inbox.ts';
import type { ListenOptions } from './options.ts';
import { adoptTemporaryInbox, createTemporaryInbox } from './temporary-inbox.ts';

interface ListenInbox {
  readonly inbox: Inbox;
  readonly location: InboxLocation;
  /** Whether it is removed at the end. */
  readonly isRemoved: boolean;
  /** Closes the inbox. `isOver`: the run did what it was for, so that an inbox of its own is removed. */
  readonly close: (isOver: boolean) => Promise<void>;
}

/** Opens the inbox of one run. `onCommit` is told how many writes shared each transaction. Throws a `ConfigError` when it cannot be opened. */
export async function openListenInbox(
  flags: ListenOptions,
  settings: Settings,
  context: Pick<Context, 'env' | 'platform' | 'stdin' | 'paths' | 'clock' | 'pid' | 'signal' | 'messages'>,
  verifier: Verifier,
  targets: readonly Target[],
  onCommit?: (writes: number) => void,
): Promise<ListenInbox> {
  const { env, clock, pid, messages } = context;
  const temporary =
    isForTests(flags) && !isInboxNamed(flags, env) ? await createTemporaryInbox(context) : undefined;
  const location = temporary?.location ?? (await resolveInbox(flags, settings, context));
  if (temporary === undefined && typeof location === 'string') await adoptTemporaryInbox(location, context);
  const requirements = inboxRequirements(verifier, targets);
  const inbox = await openInbox({
    location,
    clock,
    pid,
    warn: (text) => messages.warn(text),
    onCommit,
    ...requirements,
    onDemand: flags.replayTo.map((url) => `forward ${url.href}`),
    leaseMs: Math.max(
      requirements.leaseMs,
      flags.replayTo.length > 0 ? settings.timeoutMs + leaseMarginMs : 0,
    ),
  });
  await noteOutstanding(inbox, inboxWords(flags, inbox.location), messages);
  return {
    inbox,
    location,
    isRemoved: temporary !== undefined && !flags.keep,
    async close(isOver) {
      const waiting = temporary === undefined || flags.keep ? 0 : await countOutstanding(inbox);
      await inbox.close();
      if (waiting > 0) {
        const what = waiting === 1 ? '1 lead is' : `${waiting} leads are`;
        messages.note('stays', `${what} outstanding in ${inbox.location}, which stays`);
      }
      if (flags.keep || waiting > 0) await temporary?.keep();
      else if (isOver) await temporary?.remove();
    },
  };
}

/** A run for a test gets a new inbox, but still on disk; any other continues the one that the last run used. */
const isForTests = ({ count, for: forMs, verify }: ListenOptions): boolean =>
  count !== undefined || forMs !== undefined || !verify;

/** Leads that some target has not had; of several targets the most. */
async function countOutstanding(inbox: Inbox): Promise<number> {
  return Math.max(0, ...(await inbox.outstanding()).map(({ leads }) => leads));
}

/**
 * Says what this run will not hand on: an app at another address, its port included, is another target. `where`: the flags
 * that name this inbox.
 */
async function noteOutstanding(
  inbox: Inbox,
  where: string,
  messages: Pick<Context['messages'], 'note'>,
): Promise<void> {
  for (const { target, leads, wanted, wantedElsewhere } of await inbox.outstanding()) {
    if (wanted || wantedElsewhere) continue;
    const what = leads === 1 ? '1 lead is' : `${leads} leads are`;
    const next = target.startsWith('forward ')
      ? `'leads inbox retry --pending --to URL${where}' delivers it to the address that the app has now`
      : 'it gets it when the service delivers it again to a run that has that target';
    messages.note(`outstanding ${target}`, `${what} outstanding for another target, ${target}: ${next}`);
  }
}

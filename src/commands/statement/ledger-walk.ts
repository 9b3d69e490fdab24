import { setImmediate } from 'node:timers/promises';
import type { Context } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { Ledger } from '../../inbox/ledger.ts';
import { isInboxThere, locationText, openInbox } from '../../inbox/open-inbox.ts';
import { decodeLeaf, type Leaf } from '../../statement/leaf.ts';
import { CompactRange, consistencySpans, leafHash, SubtreeRoots } from '../../statement/merkle-tree.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { resolveInbox } from '../flags/resolve-inbox.ts';
import { signedHeads } from './signing.ts';

/** Opens the inbox and closes it. Throws a `UsageError` for one that has no ledger, a `ConfigError` where there is none. */
export async function withLedger<T>(
  flags: InboxFlags,
  context: Context,
  use: (ledger: Ledger, inbox: Inbox) => Promise<T>,
): Promise<T> {
  const location = await resolveInbox(flags, await context.settings(), context);
  const shown = locationText(location);
  if (location !== ':memory:' && !isInboxThere(location))
    throw new ConfigError(`there is no inbox at ${shown}: nothing was received yet`);
  const inbox = await openInbox({ location, clock: context.clock });
  try {
    const { ledger } = inbox;
    if (ledger !== undefined) return await use(ledger, inbox);
    throw new UsageError(
      `the inbox ${shown} has no ledger: statements need an inbox in a file or in PostgreSQL`,
    );
  } finally {
    await inbox.close();
  }
}

/** Reads every leaf up to the head: the ledger as it was at one size and is now. `signal` ends it between two pages. */
export async function walkLedger(
  ledger: Ledger,
  sizeBefore: number,
  signal: AbortSignal,
  visit: (leaf: Leaf, isErased: boolean) => void = () => undefined,
) {
  const head = await ledger.head();
  const tree = new CompactRange();
  const proof = new SubtreeRoots(sizeBefore <= head.size ? consistencySpans(sizeBefore, head.size) : []);
  let rootBefore = sizeBefore === 0 ? tree.root() : undefined;
  for await (const leaves of ledger.leaves()) {
    await setImmediate();
    signal.throwIfAborted();
    for (const { leaf, salt } of leaves.slice(0, head.size - tree.size)) {
      const hashed = leafHash(leaf);
      tree.append(hashed);
      proof.add(hashed);
      if (tree.size === sizeBefore) rootBefore = tree.root();
      const decoded = decodeLeaf(leaf);
      if (decoded !== undefined) visit(decoded, salt === undefined);
    }
    if (tree.size === head.size) break;
  }
  return {
    head,
    root: tree.root(),
    /** Undefined where it has fewer leaves. */
    rootBefore,
    /** That it began as it was before. */
    consistency: proof.roots(),
  };
}

/**
 * Whether the inbox has all that was signed of it from here, and says so where it has not: it was restored from a backup,
 * or another server has taken over, and to sign now would sign two different histories. `visit` gets each leaf on the way.
 */
export async function holdsWhatWasSigned(
  ledger: Ledger,
  context: Context,
  visit?: (leaf: Leaf) => void,
): Promise<boolean> {
  const { origin } = await ledger.head();
  const signed = (await signedHeads(context))[origin];
  if (signed === undefined && visit === undefined) return true;
  const { head, rootBefore } = await walkLedger(ledger, signed?.size ?? 0, context.signal, visit);
  if (signed === undefined) return true;
  if (rootBefore !== undefined && Buffer.from(rootBefore).toString('base64') === signed.root) return true;
  const what = rootBefore === undefined ? `has ${head.size} leaves` : 'has others now';
  context.messages.warn(
    `not signed: ${origin} was signed with ${signed.size} leaves, and ${what}; if the inbox was restored, ` +
      "'leads statement checkpoint --new-ledger' begins a ledger that names the old one",
  );
  return false;
}

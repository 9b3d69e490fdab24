import type { Messages } from '../../output/messages.ts';
import { IncompleteError, type Unproven } from '../../service/listing/completion.ts';
import type { Flags } from './flag.ts';

export const acceptIncompleteFlag = {
  acceptIncomplete: { help: 'take what came, although the service does not show that it is everything' },
} satisfies Flags;

/**
 * What to do with the end of a walk that proves nothing; undefined: it is an `IncompleteError`. What is accepted counts as
 * a complete walk, so a bookmark moves, and the note says that as well.
 */
export function unprovenHandler(
  isAccepted: boolean,
  messages: Pick<Messages, 'note'>,
  movesBookmark = false,
): ((end: Unproven) => void) | undefined {
  if (!isAccepted) return undefined;
  const what = movesBookmark ? 'the bookmark moves past leads that may be missing' : 'leads may be missing';
  return ({ why }) => messages.note('incomplete', `${what}: ${why}`);
}

const said = new WeakSet<object>();

/**
 * Whether a later poll came to a proven end. One that did not is said once in a run, also under `--quiet`: the next poll
 * reaches as far back again. Passes every other failure on.
 */
export async function isComplete(
  poll: () => Promise<void>,
  { messages }: { readonly messages: Pick<Messages, 'warn'> },
): Promise<boolean> {
  try {
    await poll();
    return true;
  } catch (error) {
    if (!(error instanceof IncompleteError)) throw error;
    if (!said.has(messages)) messages.warn(`${error.message}; trying again`);
    said.add(messages);
    return false;
  }
}

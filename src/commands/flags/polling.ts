import { InterruptedError } from '../../errors.ts';
import type { Messages } from '../../output/messages.ts';
import { IncompleteError, type Unproven } from '../../service/listing/completion.ts';

/** Whether a run was stopped by Ctrl-C, which is the ordinary end of one that goes on until then. */
export const isCtrlC = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof InterruptedError && reason.signal === 'SIGINT';

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
    const { sentenceOf } = await import('../../messages/catalogue.ts');
    if (!said.has(messages)) messages.warn(`${sentenceOf(error)}; trying again`);
    said.add(messages);
    return false;
  }
}

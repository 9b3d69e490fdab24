import type { Messages } from '../../output/messages.ts';
import { IncompleteError } from '../../service/listing/evidence/completion.ts';

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

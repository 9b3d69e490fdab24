import type { Messages } from '../../output/messages.ts';
import type { Unproven } from '../../service/listing/evidence/completion.ts';
import type { Flags } from './flag.ts';

export const acceptIncompleteFlag = {
  acceptIncomplete: { help: 'take what came, although the service does not show that it is everything' },
} satisfies Flags;

/** What to do with the end of a walk that proves nothing; undefined: it is an `IncompleteError`. */
export function unprovenHandler(
  isAccepted: boolean,
  messages: Pick<Messages, 'note'>,
): ((end: Unproven) => void) | undefined {
  if (!isAccepted) return undefined;
  return ({ why }) => messages.note('incomplete', `leads may be missing: ${why}`);
}

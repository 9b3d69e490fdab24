import type { Messages } from '../../output/messages.ts';
import { formatSeconds } from '../../time/duration.ts';
import { inApplicationWords } from './application-error.ts';

/** A shorter wait is not worth a note; ms. */
const notedMs = 3000;

/** Gives each note once to `onNote`, with options in place of the program's flags; nobody reads anything else. */
export function noteMessages(onNote: (note: string) => void): Messages {
  const noted = new Set<string>();
  const note = (cause: string, text: string): void => {
    if (noted.has(cause)) return;
    noted.add(cause);
    onNote(inApplicationWords(text));
  };
  return {
    note,
    say: () => undefined,
    verbose: () => undefined,
    warn: () => undefined,
    waiting({ ms, why, detail }, sleep) {
      const reason = detail === undefined ? why : `${why}, ${detail}`;
      if (ms >= notedMs) note(`waiting: ${why}`, `waiting ${formatSeconds(ms)}: ${reason}`);
      return sleep();
    },
    asking: () => () => undefined,
  };
}

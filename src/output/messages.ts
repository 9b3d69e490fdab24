import { formatSeconds } from '../time/time-text.ts';
import { sanitize } from './terminal/terminal.ts';
import type { StatusLine } from './terminal/status-line.ts';

/** Messages for the user on stderr, each on one line and sanitized. `--quiet` silences those that say nothing is wrong. */
export interface Messages {
  /** Writes at most one note for each `cause`, a name, in a run; none under `--quiet`, unless it `isAlways` to be written. */
  note(cause: string, text: string, isAlways?: boolean): void;
  /** Writes the summary or banner of a command; nothing under `--quiet`. */
  say(text: string): void;
  /** Writes requests, retries and timings, only under `--verbose`. */
  verbose(text: string): void;
  /** Writes a warning, also under `--quiet`. */
  warn(text: string): void;
  /** Shows a wait until `sleep` has ended: in the status line, or in a note when it is long. Gives the result of `sleep`. */
  showWait<T>(wait: Wait, sleep: () => Promise<T>): Promise<T>;
  /** Shows that the service has not answered, once that takes long, until the returned function is called. */
  showRequest(): () => void;
}

/**
 * A wait for a cause such as `rate limited`, with a detail that differs between waits of one cause, such as `retry 1 of 5`.
 * When it `isExpected`, as between two polls, a pipe gets no note.
 */
interface Wait {
  readonly ms: number;
  readonly why: string;
  readonly detail?: string;
  readonly isExpected?: boolean;
}

/** The shortest waits that are shown: in a status line, which is erased again, and in a note, which stays. */
const [shortestInLineMs, shortestInNoteMs] = [1000, 3000];

const withoutEffect = (): void => undefined;

/** Sends at most one note for each cause to `onNote`, and drops all other messages. */
export function noteMessages(onNote: (text: string, isAlways?: boolean) => void): Messages {
  const notedCauses = new Set<string>();
  const note: Messages['note'] = (cause, text, isAlways) => {
    if (notedCauses.has(cause)) return;
    notedCauses.add(cause);
    onNote(text, isAlways);
  };
  return {
    note,
    say: withoutEffect,
    verbose: withoutEffect,
    warn: withoutEffect,
    showWait(wait, sleep) {
      const { ms, why, isExpected = false } = wait;
      if (ms >= shortestInNoteMs && !isExpected)
        note(`waiting: ${why}`, `waiting ${formatSeconds(ms)}: ${reasonOf(wait)}`);
      return sleep();
    },
    showRequest: () => withoutEffect,
  };
}

const reasonOf = ({ why, detail }: Wait): string => (detail === undefined ? why : `${why}, ${detail}`);

export function createMessages(
  stderr: { write(text: string): unknown },
  { verbose, quiet }: { readonly verbose: boolean; readonly quiet: boolean },
  status?: StatusLine,
): Messages {
  const write = (text: string): void => void stderr.write(`${sanitize(text)}\n`);
  const notes = noteMessages((text, isAlways = false) => {
    if (!quiet || isAlways) write(`note: ${text}`);
  });
  const messages: Messages = {
    ...notes,
    say(text) {
      if (!quiet) write(text);
    },
    verbose(text) {
      if (verbose) write(`· ${text}`);
    },
    warn: (text) => write(`warning: ${text}`),
    showRequest() {
      const message = `asking … no answer for ${formatSeconds(shortestInNoteMs)}`;
      const timer = setTimeout(() => notes.note('asking', message), shortestInNoteMs);
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
  if (status === undefined) return messages;
  return {
    ...messages,
    async showWait(wait, sleep) {
      if (wait.ms < shortestInLineMs) return sleep();
      const end = status.addWait(wait.ms, reasonOf(wait));
      try {
        return await sleep();
      } finally {
        end();
      }
    },
    showRequest: () => status.addRequest(),
  };
}

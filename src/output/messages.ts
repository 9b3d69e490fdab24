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

export function createMessages(
  stderr: { write(text: string): unknown },
  { verbose, quiet }: { readonly verbose: boolean; readonly quiet: boolean },
  status?: StatusLine,
): Messages {
  const notedCauses = new Set<string>();
  const write = (text: string): void => void stderr.write(`${sanitize(text)}\n`);
  const note = (cause: string, text: string, isAlways = false): void => {
    if ((quiet && !isAlways) || notedCauses.has(cause)) return;
    notedCauses.add(cause);
    write(`note: ${text}`);
  };
  return {
    note,
    say(text) {
      if (!quiet) write(text);
    },
    verbose(text) {
      if (verbose) write(`· ${text}`);
    },
    warn(text) {
      write(`warning: ${text}`);
    },
    async showWait({ ms, why, detail, isExpected = false }, sleep) {
      const reason = detail === undefined ? why : `${why}, ${detail}`;
      if (status === undefined) {
        if (ms >= shortestInNoteMs && !isExpected)
          note(`waiting: ${why}`, `waiting ${formatSeconds(ms)}: ${reason}`);
        return sleep();
      }
      if (ms < shortestInLineMs) return sleep();
      const end = status.addWait(ms, reason);
      try {
        return await sleep();
      } finally {
        end();
      }
    },
    showRequest() {
      if (status !== undefined) return status.addRequest();
      if (quiet || notedCauses.has('asking')) return () => undefined;
      const timer = setTimeout(
        () => note('asking', `asking … no answer for ${formatSeconds(shortestInNoteMs)}`),
        shortestInNoteMs,
      );
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

import { formatSeconds } from '../time/time-text.ts';
import { sanitize } from './terminal/terminal.ts';
import type { StatusLine } from './terminal/status-line.ts';

/** Messages for the user on stderr, each on one line and sanitized. */
export interface Messages {
  /** Writes at most one note for a cause in a run, and none under `--quiet`, unless `isAlways`. */
  note(cause: string, text: string, isAlways?: boolean): void;
  /** Writes the summary or banner of a command; silent under `--quiet`. */
  say(text: string): void;
  /** Writes requests, retries and timings, only under `--verbose`. */
  verbose(text: string): void;
  /** Writes a warning, also under `--quiet`. */
  warn(text: string): void;
  /**
   * Shows the length and the cause of a wait until `sleep` has ended: in the status line, or in a note when
   * it is long.
   */
  waiting<T>(wait: Wait, sleep: () => Promise<T>): Promise<T>;
  /** Shows that the service has not answered, once that takes long, until the returned function is called. */
  asking(): () => void;
}

interface Wait {
  readonly ms: number;
  /** The cause, such as `rate limited`. */
  readonly why: string;
  /** A detail that differs between waits of the same cause, such as `retry 1 of 5`. */
  readonly detail?: string;
  /** The wait is usual: no note in a pipe. */
  readonly isExpected?: boolean;
}

/** In milliseconds: a terminal shows a wait from the first on, a pipe gets a note from the second on. */
const shownMs = 1000;
const saidMs = 3000;

/**
 * Writes messages to `stderr`; `quiet` and `verbose` are the global flags. Only a terminal has a `status`.
 */
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
    async waiting({ ms, why, detail, isExpected = false }, sleep) {
      const reason = detail === undefined ? why : `${why}, ${detail}`;
      if (status === undefined) {
        if (ms >= saidMs && !isExpected) note(`waiting: ${why}`, `waiting ${formatSeconds(ms)}: ${reason}`);
        return sleep();
      }
      if (ms < shownMs) return sleep();
      const end = status.waiting(ms, reason);
      try {
        return await sleep();
      } finally {
        end();
      }
    },
    asking() {
      if (status !== undefined) return status.asking();
      if (quiet || notedCauses.has('asking')) return () => undefined;
      const timer = setTimeout(
        () => note('asking', `asking … no answer for ${formatSeconds(saidMs)}`),
        saidMs,
      );
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

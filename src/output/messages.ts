import { formatSeconds } from '../time/time-text.ts';
import { sanitize } from './terminal/terminal.ts';
import type { StatusLine } from './terminal/status-line.ts';

/** Messages for the person, on stderr; each is one line, sanitized where it is written. */
export interface Messages {
  /** At most one for one cause in one run; silent under `--quiet`, unless `isAlways`. */
  note(cause: string, text: string, isAlways?: boolean): void;
  /** What the command is for, such as a summary or a banner; silent under `--quiet`. */
  say(text: string): void;
  /** Requests, retries, timings: only under `--verbose`. */
  verbose(text: string): void;
  /** Said even under `--quiet`: a warning about money or safety. */
  warn(text: string): void;
  /** Shows for how long the run waits, and why, until `sleep` has ended: in the status line, or in a note when it is long. */
  waiting<T>(wait: Wait, sleep: () => Promise<T>): Promise<T>;
  /** Shows that an answer is awaited, once that takes long, until the returned function is called. */
  asking(): () => void;
}

interface Wait {
  /** How long it will take, in milliseconds. */
  readonly ms: number;
  /** The cause, such as `rate limited`. */
  readonly why: string;
  /** What differs from one wait of this cause to the next, such as `retry 1 of 5`. */
  readonly detail?: string;
  /** The wait is usual, or was said already: no note in a pipe. */
  readonly isExpected?: boolean;
}

/** A wait that is shown on a terminal, one that is said in a pipe, and a silence that is said there; ms. */
const shownMs = 1000;
const saidMs = 3000;

/** Messages that go to `stderr`; `quiet` and `verbose` are the global flags. `status` is there on a terminal only. */
export function createMessages(
  stderr: { write(text: string): unknown },
  { verbose, quiet }: { readonly verbose: boolean; readonly quiet: boolean },
  status?: StatusLine,
): Messages {
  const said = new Set<string>();
  const write = (text: string): void => void stderr.write(`${sanitize(text)}\n`);
  const note = (cause: string, text: string, isAlways = false): void => {
    if ((quiet && !isAlways) || said.has(cause)) return;
    said.add(cause);
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
      if (quiet || said.has('asking')) return () => undefined;
      const timer = setTimeout(
        () => note('asking', `asking … no answer for ${formatSeconds(saidMs)}`),
        saidMs,
      );
      timer.unref();
      return () => clearTimeout(timer);
    },
  };
}

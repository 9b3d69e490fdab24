import type { Globals, Output } from '../context.ts';
import { sanitize } from './sanitize.ts';

/** Messages for the person, on stderr; each is one line, scrubbed where it is written. */
export interface Messages {
  /** At most one for one cause in one run; silent under `--quiet`. */
  note(cause: string, text: string): void;
  /** What the command is for, such as a summary or a banner; silent under `--quiet`. */
  say(text: string): void;
  /** Requests, retries, timings: only under `--verbose`. */
  verbose(text: string): void;
  /** Said even under `--quiet`: a warning about money or safety. */
  warn(text: string): void;
}

export function createMessages(stderr: Output, globals: Pick<Globals, 'verbose' | 'quiet'>): Messages {
  const told = new Set<string>();
  const write = (text: string): void => void stderr.write(`${sanitize(text)}\n`);
  return {
    note(cause, text) {
      if (globals.quiet || told.has(cause)) return;
      told.add(cause);
      write(`note: ${text}`);
    },
    say(text) {
      if (!globals.quiet) write(text);
    },
    verbose(text) {
      if (globals.verbose) write(`· ${text}`);
    },
    warn(text) {
      write(`warning: ${text}`);
    },
  };
}

import { sanitize } from './sanitize.ts';

/** Messages for the person, on stderr; each is one line, sanitized where it is written. */
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

/** Messages that go to `stderr`; `quiet` and `verbose` are the global flags. */
export function createMessages(
  stderr: { write(text: string): unknown },
  { verbose, quiet }: { readonly verbose: boolean; readonly quiet: boolean },
): Messages {
  const said = new Set<string>();
  const write = (text: string): void => void stderr.write(`${sanitize(text)}\n`);
  return {
    note(cause, text) {
      if (quiet || said.has(cause)) return;
      said.add(cause);
      write(`note: ${text}`);
    },
    say(text) {
      if (!quiet) write(text);
    },
    verbose(text) {
      if (verbose) write(`· ${text}`);
    },
    warn(text) {
      write(`warning: ${text}`);
    },
  };
}

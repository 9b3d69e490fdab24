import { ConfigError, describeProblem, InterruptedError, LeadsError, messageOf } from './errors.ts';
import { bugHint, type ExitCode, exitCodeOf } from './exit-codes.ts';
import { commandLineFor } from './front.ts';
import type { Host } from './host.ts';
import { escapeJson, sanitize } from './output/terminal/terminal.ts';

/** Writes on stderr what ended the run, as one line and a hint or as one JSON object, and returns the exit code. */
export function report(thrown: unknown, argv: readonly string[], { signal, stderr, env }: Host): ExitCode {
  const wasInterrupted = isAbort(thrown) && signal.aborted;
  const failure = wasInterrupted ? (signal.reason as unknown) : withMemoryHint(thrown);
  const exitCode = exitCodeOf({ thrown: failure });
  const isKnownToUser = failure instanceof InterruptedError && failure.hint === undefined;
  if (isKnownToUser) return exitCode;
  const { message, hint } = failure instanceof LeadsError ? problemText(failure, argv, env) : bug(failure);
  if (wantsJson(argv)) {
    const { code, status, requestId } =
      failure instanceof LeadsError ? failure : { code: 'bug', status: undefined, requestId: undefined };
    const json = JSON.stringify({ error: { code, message, hint, status, requestId } });
    stderr.write(`${stderr.isTTY === true ? escapeJson(json) : json}\n`);
  } else {
    stderr.write(`error: ${sanitize(message)}\n`);
    if (hint !== undefined) stderr.write(`hint: ${sanitize(hint)}\n`);
  }
  const isVerbose = argv.some((word) => word === '--verbose' || /^-[a-zA-Z]*v/.test(word));
  if (exitCode === 1 && failure instanceof Error && isVerbose) stderr.write(`${failure.stack ?? ''}\n`);
  return exitCode;
}

/** Whether it is the error that libraries throw when a signal stops them. The reason of the signal says more. */
function isAbort(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  const { code } = thrown as NodeJS.ErrnoException;
  return thrown.name === 'AbortError' || code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED';
}

/** The scanner of leads and the HTTP client are WebAssembly: each has ten gigabytes of addresses set aside for it. */
function withMemoryHint(thrown: unknown): unknown {
  if (!(thrown instanceof RangeError && thrown.message.includes('Wasm memory'))) return thrown;
  return new ConfigError(`there is too little memory: ${thrown.message}`, {
    hint: "a limit on addresses may be the cause (see 'ulimit -v'): NODE_OPTIONS=--disable-wasm-trap-handler needs few",
  });
}

function problemText({ message, details }: LeadsError, argv: readonly string[], env: Host['env']) {
  const isUrlTyped = argv.some((word) => word.startsWith('--base-url'));
  return describeProblem({ message, ...details }, commandLineFor(isUrlTyped, env));
}

const bug = (thrown: unknown) => ({ message: `a bug in leads: ${messageOf(thrown)}`, hint: bugHint });

/** Looks at the words themselves, since the error may be that they could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const format = argv.findLast((word, i) => argv[i - 1] === '--format' || word.startsWith('--format='));
  return argv.includes('--json') || /^(--format=)?(json|ndjson|events|redacted)$/.test(format ?? '');
}

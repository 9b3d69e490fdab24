import type { Host } from './context.ts';
import { ConfigError, type ExitCode, InterruptedError, LeadsError, messageOf } from './errors.ts';
import { escapeJson, sanitize } from './output/sanitize.ts';

/** Says on stderr what ended the run, one line and a hint or one JSON object, and gives its exit code. */
export function report(error: unknown, argv: readonly string[], host: Host): ExitCode {
  const failure = isAbort(error) && host.signal.aborted ? (host.signal.reason as unknown) : error;
  if (failure instanceof InterruptedError && failure.hint === undefined) return failure.exitCode;
  const { message, hint, code, status, requestId, exitCode } = describe(failure);
  if (wantsJson(argv)) {
    const json = JSON.stringify({ error: { code, message, hint, status, requestId } });
    host.stderr.write(`${host.stderr.isTTY === true ? escapeJson(json) : json}\n`);
  } else {
    host.stderr.write(`error: ${sanitize(message)}\n`);
    if (hint !== undefined) host.stderr.write(`hint: ${sanitize(hint)}\n`);
  }
  if (exitCode === 1 && failure instanceof Error && (argv.includes('-v') || argv.includes('--verbose'))) {
    host.stderr.write(`${failure.stack ?? ''}\n`);
  }
  return exitCode;
}

/** What libraries throw when the run's own signal stopped them; the signal's reason says more. */
function isAbort(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  return error.name === 'AbortError' || code === 'ABORT_ERR' || code === 'UND_ERR_ABORTED';
}

function describe(
  failure: unknown,
): Pick<LeadsError, 'message' | 'hint' | 'code' | 'status' | 'requestId' | 'exitCode'> {
  if (failure instanceof LeadsError) return failure;
  // The scanner of leads and the HTTP client are WebAssembly: each has ten gigabytes of addresses set aside for it.
  if (failure instanceof RangeError && failure.message.includes('Wasm memory')) {
    return new ConfigError(`there is too little memory: ${failure.message}`, {
      hint: "a limit on addresses may be the cause (see 'ulimit -v'): NODE_OPTIONS=--disable-wasm-trap-handler needs few",
    });
  }
  return {
    message: `a bug in leads: ${messageOf(failure)}`,
    hint: 'run it again with --verbose and report what it prints',
    code: 'bug',
    status: undefined,
    requestId: undefined,
    exitCode: 1,
  };
}

/** Read from the words themselves: the error may be that they could not be parsed. */
function wantsJson(argv: readonly string[]): boolean {
  const format = argv.findLast((word, i) => argv[i - 1] === '--format' || word.startsWith('--format='));
  const isJq = argv.some((word) => word === '--jq' || word.startsWith('--jq='));
  return isJq || argv.includes('--json') || /^(--format=)?(json|ndjson|events)$/.test(format ?? '');
}

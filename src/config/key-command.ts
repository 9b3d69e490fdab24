import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../errors.ts';
import { systemReason } from '../files/errors.ts';
import type { Host } from '../host.ts';
import { Secret } from '../secret.ts';
import { formatDuration } from '../time/time-text.ts';

const runFile = promisify(execFile);

const defaultTimeoutMs = 60_000;

/** The error of `execFile`. `code` is the exit status, or says why the program could not be run; `killed`: by this process. */
interface ExecFailure extends Error {
  readonly code?: number | string | null;
  readonly signal?: NodeJS.Signals | null;
  readonly killed?: boolean;
  readonly stderr?: string;
}

/**
 * Runs a program without a shell, and returns the key that it prints. Throws a `ConfigError` that says why there is no key, and
 * the signal's reason when this run is interrupted.
 */
export async function runKeyCommand(
  [program = '', ...args]: readonly string[],
  { env, signal }: Pick<Host, 'env' | 'signal'>,
  timeoutMs = defaultTimeoutMs,
): Promise<Secret> {
  signal.throwIfAborted();
  let printed: string;
  try {
    const running = runFile(program, args, { env, signal, timeout: timeoutMs, killSignal: 'SIGKILL' });
    // A program that asks for input gets none, and does not wait for the time limit.
    running.child.stdin?.end();
    printed = (await running).stdout.trim();
  } catch (error) {
    // An interruption of this run also kills the program, and is no fault of the program.
    signal.throwIfAborted();
    const failure = error as ExecFailure;
    const stderr = (failure.stderr ?? '').trim().slice(0, mostStderrCharacters);
    throw keyCommandFailed(program, faultOf(failure, timeoutMs) + (stderr === '' ? '' : `: ${stderr}`));
  }
  if (/^[\x21-\x7e]+$/.test(printed)) return new Secret(printed);
  throw keyCommandFailed(
    program,
    'what it printed is empty, or holds characters that cannot be part of a key',
  );
}

const mostStderrCharacters = 500;

function faultOf(failure: ExecFailure, timeoutMs: number): string {
  const { code, signal, killed } = failure;
  if (typeof code === 'number') return `exit ${code}`;
  // `runKeyCommand` has thrown for an interruption, so only the time limit can have killed the program.
  if (killed === true && code === null) return `it did not end within ${formatDuration(timeoutMs)}`;
  if (typeof signal === 'string') return `ended by ${signal}`;
  return `it cannot be run: ${code === 'ENOENT' ? 'there is no such program' : systemReason(failure)}`;
}

const keyCommandFailed = (program: string, fault: string): ConfigError =>
  new ConfigError(`api-key-command gave no key: ${fault}`, {
    hint: `run '${program}' by hand as 'leads config get api-key-command' shows it; it must print the key and nothing else`,
  });

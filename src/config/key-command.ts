import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../errors.ts';
import type { Host } from '../host.ts';
import { Secret } from '../secret.ts';
import { configError, type KeyCommandFault } from './problems.ts';

const runFile = promisify(execFile);

/** In milliseconds. */
const defaultTimeoutMs = 60_000;

/** How `execFile` rejects. */
interface ExecFailure extends Error {
  /** The exit status, or why the program could not be run. */
  readonly code?: number | string | null;
  readonly signal?: NodeJS.Signals | null;
  /** It was ended here. */
  readonly killed?: boolean;
  readonly stderr?: string;
}

/**
 * The key that a program prints, which is run without a shell. Throws a `ConfigError` that says what it did instead, and the
 * signal's reason when the run is interrupted.
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
    running.child.stdin?.end();
    printed = (await running).stdout.trim();
  } catch (error) {
    signal.throwIfAborted();
    const failure = error as ExecFailure;
    const stderr = (failure.stderr ?? '').trim().slice(0, mostShown);
    throw configError({ kind: 'key-command-failed', program, how: faultOf(failure, timeoutMs), stderr });
  }
  if (/^[\x21-\x7e]+$/.test(printed)) return new Secret(printed);
  throw configError({ kind: 'key-command-failed', program, how: { kind: 'no-key-printed' }, stderr: '' });
}

/** Of what the program writes to stderr, in characters. */
const mostShown = 500;

function faultOf(failure: ExecFailure, afterMs: number): KeyCommandFault {
  const { code, signal, killed } = failure;
  if (typeof code === 'number') return { kind: 'exited', status: code };
  if (killed === true && code === null) return { kind: 'not-ended', afterMs };
  if (typeof signal === 'string') return { kind: 'killed', by: signal };
  return { kind: 'not-run', why: code ?? messageOf(failure) };
}

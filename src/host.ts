import { fstatSync, statSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { InterruptedError } from './errors.ts';
import { bugHint, exitCodeOf } from './exit-codes.ts';
import { type Clock, systemClock } from './time/clock.ts';

interface Input extends Readable {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
}

export interface Output extends Writable {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** The descriptor in which it ends; it holds on to no bytes that it has called back for. */
  readonly fd?: number | undefined;
}

/** The world outside of the program; tests pass their own. */
export interface Host {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: () => number;
  /** Aborted by Ctrl-C, SIGTERM, SIGHUP and the end of a process that keeps a channel to this one, with an `InterruptedError` as its reason. */
  readonly signal: AbortSignal;
  /** Calls on SIGHUP, which ends only a process on a terminal. Gives what takes the listener back. */
  readonly onHangup: (listener: () => void) => () => void;
  readonly platform: string;
  readonly pid: number;
  /**
   * Kills a process that leads its own group, and everything in that group. It is no error when it has ended, or belongs to
   * another user now and cannot be killed.
   */
  readonly killGroup: (leader: number) => void;
  readonly program: readonly [command: string, ...args: string[]];
}

/**
 * The first Ctrl-C, SIGTERM or SIGHUP (a terminal that closes) asks for an orderly end; the second ends the process at once,
 * but for a SIGHUP: shell and kernel both send one.
 * Without a terminal, SIGHUP asks its listeners to reread their files, and ends nothing. `nohup` sets the signal to be ignored,
 * and node undoes that.
 */
function interruption(): Pick<Host, 'signal' | 'onHangup'> {
  const controller = new AbortController();
  const listeners = new Set<() => void>();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // Windows sends SIGHUP when the console closes, and ends the process itself.
      const isClosing = process.platform === 'win32' || [0, 1, 2].some(isTerminal);
      if (name === 'SIGHUP' && !isClosing) {
        for (const listener of listeners) listener();
        return;
      }
      const interrupted = new InterruptedError(name);
      if (controller.signal.aborted && name === 'SIGHUP') return;
      if (controller.signal.aborted) process.exit(exitCodeOf({ thrown: interrupted }));
      controller.abort(interrupted);
    });
  }
  // The process that started this one, with a channel, has ended, and with it the need for this one.
  process.once('disconnect', () => {
    if (!controller.signal.aborted) controller.abort(new InterruptedError('SIGTERM'));
  });
  // The listener alone must not keep the process alive; a reader of messages needs the channel.
  if (process.listenerCount('message') === 0) process.channel?.unref();
  return {
    signal: controller.signal,
    onHangup(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** `isatty` denies it for a terminal that has closed, which is still a device, and not the null device. */
function isTerminal(stream: number): boolean {
  // An import of the module would cost every start a few milliseconds.
  if (process.getBuiltinModule('node:tty').isatty(stream)) return true;
  try {
    const stats = fstatSync(stream);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    // The descriptor is not open.
    return false;
  }
}

/** Write errors are reported by each write's callback; without a listener the event would also crash us. */
const ignoreError = (): void => undefined;

/** Adds our own listener even where there are others: the one of `pipe`, which a worker adds, emits the event once more. */
function quietly<S extends Output>(stream: S): S {
  if (!stream.listeners('error').includes(ignoreError)) stream.on('error', ignoreError);
  return stream;
}

export function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/** This process: the program touches `process` nowhere else. Streams are opened when first used. */
export function processHost(): Host {
  return {
    get stdin() {
      return process.stdin;
    },
    get stdout() {
      return quietly(process.stdout);
    },
    get stderr() {
      return quietly(process.stderr);
    },
    env: process.env,
    clock: systemClock,
    random: Math.random,
    ...interruption(),
    platform: process.platform,
    pid: process.pid,
    killGroup,
    program: LEADS_SINGLE_FILE ? [process.execPath] : [process.execPath, process.argv[1] ?? ''],
  };
}

/** Runs the program on this process's arguments and leaves its result as the exit code. */
export async function runProcess(
  main: (argv: readonly string[], host: Host) => Promise<number>,
): Promise<void> {
  // Node ends a process that waits for nothing, whether or not the run has finished: that must not look like success. An uncaught
  // error ends it with 1 as well.
  process.exitCode = 1;
  const sayBug = (code: number): void => {
    if (code === 1)
      process.stderr.write(`error: a bug in leads: the run was not finished\nhint: ${bugHint}\n`);
  };
  process.once('exit', sayBug);
  const code = await main(process.argv.slice(2), processHost());
  process.off('exit', sayBug);
  process.exitCode = code;
  // From 8 on the output is incomplete anyway, and a write without a reader would keep the process alive.
  if (code >= 8 && process.stdout.writableLength > 0) process.exit(code);
}

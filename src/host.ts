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
  /** The descriptor that it writes to: when it calls back, it has written the bytes and no longer holds them. */
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
  /** Aborts with an `InterruptedError` when this process is asked to end. */
  readonly signal: AbortSignal;
  /** Calls the listener when SIGHUP asks to reread files; returns a function that removes it. */
  readonly onHangup: (listener: () => void) => () => void;
  readonly platform: string;
  readonly pid: number;
  /**
   * Kills a process that leads its own group, and all processes of that group. Does nothing when they have ended, or when they
   * run as another user by now, whose processes this one cannot kill.
   */
  readonly killGroup: (leader: number) => void;
  /** The command that starts this program again. */
  readonly program: readonly [command: string, ...args: string[]];
}

/**
 * Listens to the system's signals. The first Ctrl-C, SIGTERM, or SIGHUP of a terminal that closes asks for an orderly end; the
 * second ends the process at once, but for a SIGHUP, which the shell and the kernel both send. Without a terminal, SIGHUP asks
 * its listeners to reread their files, and ends nothing. It does so under `nohup` too, since node undoes that it is ignored.
 */
function listenToSignals(): Pick<Host, 'signal' | 'onHangup'> {
  const controller = new AbortController();
  const hangupListeners = new Set<() => void>();
  const interrupt = (name: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    const interrupted = new InterruptedError(name);
    if (!controller.signal.aborted) controller.abort(interrupted);
    else if (name !== 'SIGHUP') process.exit(exitCodeOf({ thrown: interrupted }));
  };
  process.on('SIGINT', () => interrupt('SIGINT'));
  process.on('SIGTERM', () => interrupt('SIGTERM'));
  process.on('SIGHUP', () => {
    // Windows sends SIGHUP when the console closes, and ends the process itself.
    const isTerminalClosing = process.platform === 'win32' || [0, 1, 2].some(isTerminal);
    if (isTerminalClosing) interrupt('SIGHUP');
    else for (const listener of hangupListeners) listener();
  });
  // The process that started this one, with a channel to it, has ended, and this one is not needed any more.
  process.once('disconnect', () => {
    if (!controller.signal.aborted) controller.abort(new InterruptedError('SIGTERM'));
  });
  // The listener alone must not keep the process alive; a reader of messages needs the channel.
  if (process.listenerCount('message') === 0) process.channel?.unref();
  return {
    signal: controller.signal,
    onHangup(listener) {
      hangupListeners.add(listener);
      return () => void hangupListeners.delete(listener);
    },
  };
}

/** `isatty` does not recognize a terminal that has closed. Such a terminal is a device still, and not the null device. */
function isTerminal(fd: number): boolean {
  // An import of the module would cost every start a few milliseconds.
  if (process.getBuiltinModule('node:tty').isatty(fd)) return true;
  try {
    const stats = fstatSync(fd);
    return stats.isCharacterDevice() && stats.rdev !== statSync('/dev/null').rdev;
  } catch {
    // The descriptor is not open.
    return false;
  }
}

/** The callback of each write reports its error; without a listener the event would also end the process. */
const ignoreError = (): void => undefined;

/** Adds the listener even where there are others: the one of `pipe`, which a worker adds, emits the event once more. */
function withoutErrorEvents<S extends Output>(stream: S): S {
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
      return withoutErrorEvents(process.stdout);
    },
    get stderr() {
      return withoutErrorEvents(process.stderr);
    },
    env: process.env,
    clock: systemClock,
    random: Math.random,
    ...listenToSignals(),
    platform: process.platform,
    pid: process.pid,
    killGroup,
    program: LEADS_SINGLE_FILE ? [process.execPath] : [process.execPath, process.argv[1] ?? ''],
  };
}

/** The first of the exit codes of runs whose output is incomplete: it could not be written, or the run was interrupted. */
const incompleteOutput = 8;

/** Runs the program on this process's arguments, and sets its result as the exit code. */
export async function runProcess(
  main: (argv: readonly string[], host: Host) => Promise<number>,
): Promise<void> {
  // Node ends a process that waits for nothing, even if the run has not finished: that must not look like success.
  process.exitCode = 1;
  const reportUnfinished = (code: number): void => {
    if (code === 1)
      process.stderr.write(`error: a bug in leads: the run was not finished\nhint: ${bugHint}\n`);
  };
  process.once('exit', reportUnfinished);
  const code = await main(process.argv.slice(2), processHost());
  process.off('exit', reportUnfinished);
  process.exitCode = code;
  // Such a run's output is incomplete anyway, and a write without a reader would keep the process alive.
  if (code >= incompleteOutput && process.stdout.writableLength > 0) process.exit(code);
}

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { platform } from 'node:os';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';

export interface CommandOptions {
  readonly command: string;
  readonly env: Context['env'];
  readonly input: Uint8Array;
  /** The command is killed when this time is over, or `signal` aborts. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly killGroup: Context['killGroup'];
}

export interface CommandEnd {
  readonly ok: boolean;
  /** `exit 3`, `ended by SIGKILL`, or why it could not start. */
  readonly text: string;
  /** A signal of another process ended it. */
  readonly isInterrupted?: true | undefined;
  /** The text that it printed on stdout and stderr, cut to 64 KiB. */
  readonly output: string;
}

const keptOutput = 64 * 1024;

/** A command ended by another process: by this signal, or its shell by the exit code for it. This process sends only SIGKILL. */
const interruptions: readonly (NodeJS.Signals | number | null)[] = ['SIGINT', 'SIGTERM', 130, 143];

/** Runs a shell command with `input` on stdin until it ends, or is killed with all that it started. Never rejects. */
export async function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, env, input } = options;
  try {
    const child = spawn(command, { shell: true, env: { ...env }, stdio: 'pipe', detached: hasGroups });
    return await new Promise<CommandEnd>((resolve) => {
      const disarm = killInTime(child, options);
      child.on('error', (error) => {
        disarm();
        resolve({ ok: false, text: error.message, output: '' });
      });
      // Without a pid the command did not start, and may have no streams: the event 'error' follows.
      if (child.pid === undefined) return;
      const outputOf = collectOutput(child);
      child.on('exit', disarm);
      child.on('close', (code, killedBy) => {
        const text = killedBy === null ? `exit ${code ?? 0}` : `ended by ${killedBy}`;
        const isInterrupted = interruptions.includes(killedBy ?? code) || undefined;
        resolve({ ok: code === 0, text, isInterrupted, output: outputOf() });
      });
      // A command may end without reading its input.
      child.stdin.on('error', () => undefined);
      child.stdin.end(input);
    });
  } catch (error) {
    // node throws some failures, such as E2BIG.
    return { ok: false, text: messageOf(error), output: '' };
  }
}

function killInTime(
  child: ChildProcessWithoutNullStreams,
  { timeoutMs, signal, killGroup }: CommandOptions,
): () => void {
  // The shell and all that it started: killed alone, the shell would leave the command running.
  const kill = (): void => {
    if (child.pid !== undefined && hasGroups) killGroup(child.pid);
    else child.kill('SIGKILL');
  };
  const timer = setTimeout(kill, timeoutMs);
  // All commands listen to this signal, and node warns of a leak beyond ten listeners.
  setMaxListeners(0, signal);
  if (signal.aborted) kill();
  signal.addEventListener('abort', kill);
  return () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', kill);
  };
}

/** After a command's exit, for its output to arrive, in milliseconds: a child that it left behind keeps the pipe open. */
const outputGraceMs = 200;

function collectOutput(child: ChildProcessWithoutNullStreams): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (output.length < keptOutput) output += chunk.toString('utf8');
    });
  }
  child.on('exit', () => {
    const grace = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, outputGraceMs);
    child.on('close', () => clearTimeout(grace));
  });
  return () => output.slice(0, keptOutput);
}

const hasGroups = platform() !== 'win32';

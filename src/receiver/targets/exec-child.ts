import { type ChildProcess, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { platform } from 'node:os';
import type { Context } from '../../context.ts';

interface CommandOptions {
  readonly command: string;
  readonly env: Context['env'];
  /** Written to stdin. */
  readonly input: Uint8Array;
  readonly timeoutMs: number;
  readonly killGroup: Context['killGroup'];
  /** Kills the command. */
  readonly signal: AbortSignal;
}

/** How a command ended. */
export interface CommandEnd {
  /** It exited with 0. */
  readonly ok: boolean;
  /** `exit 3`, `ended by SIGKILL`, or why it could not start. */
  readonly text: string;
  /** The first 64 KiB of stdout and stderr, in the order of arrival. */
  readonly output: string;
}

/** Of a command's output, in characters. */
const keptOutput = 64 * 1024;

/** After a command's exit, for its output to arrive, in milliseconds: a child that it left behind keeps the pipe open. */
const outputGraceMs = 200;

/** Runs a shell command to its end, or kills it after `timeoutMs`. */
export function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, env, input, timeoutMs, killGroup, signal } = options;
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, env: { ...env }, stdio: 'pipe', detached: hasGroups });
    let output = '';
    const finish = (ok: boolean, text: string): void =>
      resolve({ ok, text, output: output.slice(0, keptOutput) });
    const kill = (): void => killAll(child, killGroup);
    const timer = setTimeout(kill, timeoutMs);
    setMaxListeners(0, signal);
    if (signal.aborted) kill();
    signal.addEventListener('abort', kill);
    const disarm = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', kill);
    };
    const collect = (chunk: Buffer): void => {
      if (output.length < keptOutput) output += chunk.toString('utf8');
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => {
      disarm();
      finish(false, error.message);
    });
    child.on('exit', () => {
      disarm();
      const grace = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, outputGraceMs);
      child.on('close', () => clearTimeout(grace));
    });
    child.on('close', (code, killedBy) => {
      if (killedBy !== null) finish(false, `ended by ${killedBy}`);
      else finish(code === 0, `exit ${code ?? 0}`);
    });
    // A command may end without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

const hasGroups = platform() !== 'win32';

/** The shell and all that it started: killed alone, the shell would leave the command running. */
function killAll(child: ChildProcess, killGroup: CommandOptions['killGroup']): void {
  if (child.pid !== undefined && hasGroups) killGroup(child.pid);
  else child.kill('SIGKILL');
}

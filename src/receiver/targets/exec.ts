import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { platform } from 'node:os';
import type { Context } from '../../context.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { Messages } from '../../output/messages.ts';
import type { Target } from './target.ts';

interface ExecOptions {
  readonly command: string;
  /** The name of this machine, where others share the inbox. */
  readonly host?: string | undefined;
  /** The environment of this process; the command gets it without our own settings. */
  readonly env: Context['env'];
  readonly timeoutMs: number;
  readonly messages: Pick<Messages, 'say'>;
  readonly killGroup: Context['killGroup'];
  /** Kills the commands that run. */
  readonly signal: AbortSignal;
}

/** By which a command ends, or with which a shell around it, for a signal that is never sent here. */
const interruptions: readonly (NodeJS.Signals | number | null)[] = ['SIGINT', 'SIGTERM', 130, 143];

/** Commands at the same time: a burst of leads must not become a burst of processes. */
const concurrency = 4;

/**
 * Runs a shell command with the lead's own bytes on stdin, and its id (a NUL as U+FFFD, since no variable can hold
 * one) and attempt in `LEAD_ID` and `LEAD_ATTEMPT`; exit 0 means that it took the lead. The command runs `timeoutMs` at
 * most.
 */
export function execTarget({ messages, ...options }: ExecOptions): Target {
  const { command, host, timeoutMs, killGroup, signal } = options;
  const env = withoutSettings(options.env);
  return {
    name: `exec ${host === undefined ? '' : `${host} `}${command}`,
    concurrency,
    async deliver({ delivery, leads: [lead] }, attempt) {
      const id = lead?.leadId.replaceAll('\0', '\ufffd') ?? '';
      const input = leadBytes(delivery.body, lead?.place);
      const variables = { LEAD_ID: id, LEAD_ATTEMPT: String(attempt) };
      const started = performance.now();
      const run = { command, env: { ...env, ...variables }, input, timeoutMs, killGroup, signal };
      const { ok, text: answer, isInterrupted, output } = await runCommand(run);
      // stdout carries our data alone, so what a command prints goes to stderr with the messages.
      for (const line of output.split('\n')) if (line !== '') messages.say(`  | ${line}`);
      return { to: 'exec', ok, answer, isInterrupted, durationMs: Math.round(performance.now() - started) };
    },
  };
}

/** A child has no need for the tool's own settings, some of which are secrets. */
const withoutSettings = (env: ExecOptions['env']): ExecOptions['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_')));

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
  /** A signal of another process ended it. */
  readonly isInterrupted?: true | undefined;
  /** The first 64 KiB of stdout and stderr, in the order of arrival. */
  readonly output: string;
}

/** How many characters of a command's output are kept. */
const keptOutput = 64 * 1024;

/** After a command's exit, for its output to arrive, in milliseconds: a child that it left behind keeps the pipe open. */
const outputGraceMs = 200;

/** Runs a shell command to its end, or kills it after `timeoutMs`. */
export function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, env, input, timeoutMs, killGroup, signal } = options;
  return new Promise((resolve) => {
    const child = started(command, env);
    if (child instanceof Error) {
      resolve({ ok: false, text: child.message, output: '' });
      return;
    }
    let output = '';
    const finish = (end: Omit<CommandEnd, 'output'>): void =>
      resolve({ ...end, output: output.slice(0, keptOutput) });
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
    child.on('error', (error) => {
      disarm();
      finish({ ok: false, text: error.message });
    });
    // It did not start, and may have no streams: the error follows.
    if (child.pid === undefined) return;
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('exit', () => {
      disarm();
      const grace = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, outputGraceMs);
      child.on('close', () => clearTimeout(grace));
    });
    child.on('close', (code, killedBy) => {
      const text = killedBy === null ? `exit ${code ?? 0}` : `ended by ${killedBy}`;
      const isInterrupted = interruptions.includes(killedBy ?? code) || undefined;
      finish({ ok: code === 0, text, isInterrupted });
    });
    // A command may end without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** node throws some failures, such as E2BIG; an event follows for others. */
function started(command: string, env: Context['env']): ChildProcessWithoutNullStreams | Error {
  try {
    return spawn(command, { shell: true, env: { ...env }, stdio: 'pipe', detached: hasGroups });
  } catch (error) {
    return error as Error;
  }
}

const hasGroups = platform() !== 'win32';

/** The shell and all that it started: killed alone, the shell would leave the command running. */
function killAll(child: ChildProcess, killGroup: CommandOptions['killGroup']): void {
  if (child.pid !== undefined && hasGroups) killGroup(child.pid);
  else child.kill('SIGKILL');
}

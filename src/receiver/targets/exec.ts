import { spawn, type ChildProcessWithoutNullStreams as Child } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { platform } from 'node:os';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { Messages } from '../../output/messages.ts';
import type { Target } from './target.ts';

interface ExecOptions extends Omit<CommandOptions, 'input'> {
  readonly host?: string | undefined;
  readonly messages: Pick<Messages, 'say'>;
}

/** A burst of leads must not become a burst of processes. */
const mostCommands = 4;

/**
 * Runs a shell command for each lead, with the lead's own bytes on stdin, and its id (a NUL as U+FFFD, since no variable can hold
 * one) and attempt in `LEAD_ID` and `LEAD_ATTEMPT`; exit 0 means that it took the lead.
 */
export function execTarget({ messages, ...options }: ExecOptions): Target {
  const { command, host, timeoutMs, killGroup, signal } = options;
  // The command gets none of the tool's own settings: some are secrets.
  const settings = Object.entries(options.env).filter(([name]) => !/^LEADS_/i.test(name));
  const env = Object.fromEntries(settings);
  return {
    name: `exec ${host === undefined ? '' : `${host} `}${command}`,
    concurrency: mostCommands,
    // There is one lead: a target that is not `isWhole` gets the leads of a delivery one by one.
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

/** The command is killed after `timeoutMs`, or when `signal` aborts. */
interface CommandOptions {
  readonly command: string;
  readonly env: Context['env'];
  readonly input: Uint8Array;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly killGroup: Context['killGroup'];
}

interface CommandResult {
  readonly ok: boolean;
  /** `exit 3`, `ended by SIGKILL`, or why it could not start. */
  readonly text: string;
  readonly isInterrupted?: true | undefined;
  /** The text that it printed on stdout and stderr, cut to 64 KiB. */
  readonly output: string;
}

const longestOutput = 64 * 1024;

/**
 * The ends of a command that another process interrupted: the signal, or the exit code of its shell, which is 128 and the number of
 * the signal. This process sends only SIGKILL.
 */
const interruptions: readonly (NodeJS.Signals | number | null)[] = ['SIGINT', 'SIGTERM', 130, 143];

/** Runs a shell command with `input` on stdin until it ends, or is killed with all that it started. Never rejects. */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const { command, env, input } = options;
  try {
    const child = spawn(command, { shell: true, env: { ...env }, stdio: 'pipe', detached: hasGroups });
    return await new Promise<CommandResult>((resolve) => {
      const disarm = killWhenOverdue(child, options);
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

/** Returns the function that spares the command when it has ended. */
function killWhenOverdue(child: Child, { timeoutMs, signal, killGroup }: CommandOptions): () => void {
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

/** From a command's exit to the end of its output, in milliseconds: a child process that it left behind keeps the pipe open. */
const outputGraceMs = 200;

/** Collects what a command prints. Returns the function that gives it. */
function collectOutput(child: Child): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      if (output.length < longestOutput) output += chunk.toString('utf8');
    });
  }
  child.on('exit', () => {
    const grace = setTimeout(() => {
      child.stdout.destroy();
      child.stderr.destroy();
    }, outputGraceMs);
    child.on('close', () => clearTimeout(grace));
  });
  return () => output.slice(0, longestOutput);
}

const hasGroups = platform() !== 'win32';

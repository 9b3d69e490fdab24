import { spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { platform } from 'node:os';
import type { Context } from '../../context.ts';
import { messageOf } from '../../errors.ts';
import { leadBytes } from '../../lead/raw-lead.ts';
import type { Messages } from '../../output/messages.ts';
import type { Target } from './target.ts';

interface ExecOptions extends Omit<CommandOptions, 'input'> {
  /** The name of this machine, where receivers on several share the inbox: each has its own commands. */
  readonly host?: string | undefined;
  readonly messages: Pick<Messages, 'say'>;
}

/** A command ended by another process: by this signal, or its shell by the exit code for it. This process sends only SIGKILL. */
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
  // The command gets none of the tool's own settings: some are secrets.
  const settings = Object.entries(options.env).filter(([name]) => !/^LEADS_/i.test(name));
  const env = Object.fromEntries(settings);
  return {
    name: `exec ${host === undefined ? '' : `${host} `}${command}`,
    concurrency,
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

interface CommandOptions {
  readonly command: string;
  readonly env: Context['env'];
  readonly input: Uint8Array;
  readonly timeoutMs: number;
  readonly killGroup: Context['killGroup'];
  readonly signal: AbortSignal;
}

export interface CommandEnd {
  readonly ok: boolean;
  /** `exit 3`, `ended by SIGKILL`, or why it could not start. */
  readonly text: string;
  /** A signal of another process ended it. */
  readonly isInterrupted?: true | undefined;
  readonly output: string;
}

const keptOutput = 64 * 1024;

/** After a command's exit, for its output to arrive, in milliseconds: a child that it left behind keeps the pipe open. */
const outputGraceMs = 200;

export function runCommand(options: CommandOptions): Promise<CommandEnd> {
  const { command, env, input, timeoutMs, killGroup, signal } = options;
  return new Promise<CommandEnd>((resolve) => {
    const child = spawn(command, { shell: true, env: { ...env }, stdio: 'pipe', detached: hasGroups });
    let output = '';
    const finish = (end: Omit<CommandEnd, 'output'>): void =>
      resolve({ ...end, output: output.slice(0, keptOutput) });
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
    // Without a pid the command did not start, and may have no streams: the event 'error' follows.
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
    // node throws some failures, such as E2BIG.
  }).catch((error: unknown) => ({ ok: false, text: messageOf(error), output: '' }));
}

const hasGroups = platform() !== 'win32';

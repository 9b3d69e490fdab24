import { type ChildProcess, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { platform } from 'node:os';
import type { Context } from '../../context.ts';
import type { Messages } from '../../output/messages.ts';
import type { TargetResult, Target } from './target.ts';

interface ExecOptions {
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly messages: Messages;
  readonly killGroup: Context['killGroup'];
  /** Ends what runs. */
  readonly stop: AbortSignal;
}

/** Commands at once: a burst of leads must not become a burst of processes. */
const atOnce = 4;

/** Of one command's output that is passed on to stderr, in bytes. */
const shownOutput = 64 * 1024;

/** After a command's end, for what it wrote to arrive, in milliseconds: a child that it left behind keeps the pipe open. */
const lastWordsMs = 200;

/**
 * Runs a shell command with the lead's raw bytes on stdin; exit 0 means that it took the lead. It waits `timeoutMs` for
 * its turn at most, and runs as long at most.
 */
export function execCommand(options: ExecOptions): Target {
  const env = withoutSecrets(options.env);
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    name: `exec ${options.command}`,
    async deliver({ delivery }) {
      const queued = performance.now();
      if (running < atOnce) running += 1;
      else if (!(await turn(waiting, options))) {
        const durationMs = Math.round(performance.now() - queued);
        return { to: 'exec', ok: false, answer: 'others were still running', durationMs };
      }
      try {
        return await runOnce(options, env, delivery.body);
      } finally {
        // The place goes to the next in line as it is, so that nobody can slip in between.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/** A child has no need for the tool's own settings, some of which are secrets. */
const withoutSecrets = (env: ExecOptions['env']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_')));

/** Waits to be called from `waiting`; false when that did not happen in time. */
function turn(waiting: (() => void)[], { timeoutMs, stop }: ExecOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const called = (): void => leave(true);
    const late = (): void => leave(false);
    const leave = (inTime: boolean): void => {
      clearTimeout(timer);
      stop.removeEventListener('abort', late);
      const at = waiting.indexOf(called);
      if (at >= 0) waiting.splice(at, 1);
      resolve(inTime);
    };
    const timer = setTimeout(late, timeoutMs);
    stop.addEventListener('abort', late);
    waiting.push(called);
  });
}

function runOnce(options: ExecOptions, env: NodeJS.ProcessEnv, body: Uint8Array): Promise<TargetResult> {
  const { command, timeoutMs, messages, stop, killGroup } = options;
  const started = performance.now();
  return new Promise((resolve) => {
    const done = (ok: boolean, answer: string): void =>
      resolve({ to: 'exec', ok, answer, durationMs: Math.round(performance.now() - started) });
    const child = spawn(command, { shell: true, env, stdio: 'pipe', detached: hasGroups });
    const cut = (): void => killAll(child, killGroup);
    const timer = setTimeout(cut, timeoutMs);
    setMaxListeners(0, stop);
    if (stop.aborted) cut();
    stop.addEventListener('abort', cut);
    let output = '';
    const collect = (chunk: Buffer): void => {
      if (output.length < shownOutput) output += chunk.toString('utf8');
    };
    // stdout carries our data alone, so what a command says goes to stderr with the messages.
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => {
      clearTimeout(timer);
      stop.removeEventListener('abort', cut);
      done(false, error.message);
    });
    child.on('exit', () => {
      clearTimeout(timer);
      stop.removeEventListener('abort', cut);
      const left = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, lastWordsMs);
      child.on('close', () => clearTimeout(left));
    });
    child.on('close', (code, signal) => {
      for (const line of output.slice(0, shownOutput).split('\n')) {
        if (line !== '') messages.say(`  | ${line}`);
      }
      if (signal !== null) done(false, `ended by ${signal}`);
      else done(code === 0, `exit ${code ?? 0}`);
    });
    // A command that does not read its input is free to do so.
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
  });
}

const hasGroups = platform() !== 'win32';

/** The shell and all that it started: killed alone, the shell would leave the command running. */
function killAll(child: ChildProcess, killGroup: ExecOptions['killGroup']): void {
  if (child.pid !== undefined && hasGroups) killGroup(child.pid);
  else child.kill('SIGKILL');
}

import { spawn } from 'node:child_process';
import type { Notes } from '../../output/notes.ts';
import type { Handed, Target } from './target.ts';

interface ExecOptions {
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly notes: Notes;
  /** Ends what runs. */
  readonly stop: AbortSignal;
}

/** Commands at once: a burst of leads must not become a burst of processes. */
const atOnce = 4;

/** Of one command's output that is passed on to stderr, in bytes. */
const shownOutput = 64 * 1024;

/** Runs a shell command with the lead's raw bytes on stdin; exit 0 means that it took the lead. */
export function execCommand(options: ExecOptions): Target {
  const env = withoutSecrets(options.env);
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    name: `exec ${options.command}`,
    async hand({ delivery }) {
      if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
      running += 1;
      try {
        return await runOnce(options, env, delivery.body);
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
  };
}

/** A child has no need for the tool's own settings, some of which are secrets. */
const withoutSecrets = (env: ExecOptions['env']): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith('LEADS_')));

function runOnce(options: ExecOptions, env: NodeJS.ProcessEnv, body: Uint8Array): Promise<Handed> {
  const { command, timeoutMs, notes, stop } = options;
  const started = performance.now();
  return new Promise((resolve) => {
    const done = (ok: boolean, answer: string): void =>
      resolve({ to: 'exec', ok, answer, durationMs: Math.round(performance.now() - started) });
    const child = spawn(command, {
      shell: true,
      env,
      stdio: 'pipe',
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      signal: stop,
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      if (output.length < shownOutput) output += chunk.toString('utf8');
    };
    // stdout carries our data alone, so what a command says goes to stderr with the messages.
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => done(false, error.message));
    child.on('close', (code, signal) => {
      for (const line of output.slice(0, shownOutput).split('\n')) {
        if (line !== '') notes.say(`  | ${line}`);
      }
      if (signal !== null) done(false, `ended by ${signal}`);
      else done(code === 0, `exit ${code ?? 0}`);
    });
    // A command that does not read its input is free to do so.
    child.stdin.on('error', () => undefined);
    child.stdin.end(body);
  });
}

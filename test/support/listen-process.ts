import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { freshHome } from './run.ts';
import { requireValidJson } from './valid-json.ts';

export const binary = fileURLToPath(new URL('../../bin/leads.js', import.meta.url));

export interface RunningProgram {
  readonly home: string;
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The first complete line of stdout: readiness, in the JSON forms. Rejects when the program ends without one. */
  firstLine(): Promise<string>;
  /** What a pattern names in stderr, once it is there. Rejects when the program ends without it. */
  printed(pattern: RegExp): Promise<string>;
  readonly done: Promise<{ readonly exitCode: number | null }>;
  /** Sends the signal and waits for the end: the exit code, or the signal's name. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

interface CommandOptions {
  /** Put in front of the command, such as `prlimit`. */
  readonly through?: readonly string[];
}

const running = new Set<ChildProcess>();

// A test that fails half-way must not leave a process behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** The real binary as a process of its own, beside others of the same home. */
export function startProgram(
  argv: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
  { through = [] }: CommandOptions = {},
): RunningProgram {
  const [command = '', ...rest] = [...through, process.execPath, binary, ...argv];
  const child = spawn(command, rest, {
    env: { PATH: process.env['PATH'], ...environment(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise<number | string>((resolve) => {
    child.on('close', (code, signal) => {
      running.delete(child);
      if (code !== null) requireValidJson(argv, stdout, stderr);
      resolve(code ?? signal ?? '');
    });
  });
  const failed = ended.then((how) => {
    throw new Error(`leads ${argv[0] ?? ''} ended with ${how}: ${stderr}`);
  });
  // It fails only those who wait for something that was not printed.
  failed.catch(() => undefined);
  return {
    home,
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    firstLine: () => firstMatch(child.stdout, () => /^(.*)\n/.exec(stdout)?.[1], failed),
    printed: (pattern) => firstMatch(child.stderr, () => pattern.exec(stderr)?.[1], failed),
    done: ended.then((how) => ({ exitCode: typeof how === 'number' ? how : null })),
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** What is found in what a stream has written, as soon as it is; rejects as `failed` does. */
function firstMatch(
  stream: Readable,
  find: () => string | undefined,
  failed: Promise<never>,
): Promise<string> {
  const match = new Promise<string>((resolve) => {
    const look = (): void => {
      const text = find();
      if (text === undefined) return;
      stream.off('data', look);
      resolve(text);
    };
    stream.on('data', look);
    look();
  });
  return Promise.race([match, failed]);
}

export interface ListenProcess extends RunningProgram {
  readonly url: string;
}

interface ListenProcessOptions extends CommandOptions {
  readonly home?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** `leads listen` as a process of its own, ready when it resolves. */
export async function listenProcess(
  argv: readonly string[],
  { home = freshHome(), env, ...options }: ListenProcessOptions = {},
): Promise<ListenProcess> {
  const program = startProgram(['listen', ...argv], home, env, options);
  return { ...program, url: await program.printed(/listening on (\S+?)(?:,|$)/m) };
}

export const environment = (home: string): Record<string, string> => ({
  HOME: home,
  LEADS_CONFIG_DIR: join(home, 'config'),
  LEADS_DATA_DIR: join(home, 'data'),
});

/** Where the local authority is: one directory for this host's name. */
export function authorityOf(home: string): string {
  const directory = join(home, 'data', 'tls');
  const [host = ''] = readdirSync(directory).filter((name) => !name.includes('.until-'));
  return join(directory, host, 'ca.pem');
}

import { type ChildProcess, spawn } from 'node:child_process';
import { binary, environment } from './listen-process.ts';
import { requireValidJson } from './valid-json.ts';

export interface RunningProgram {
  readonly child: ChildProcess;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** The first complete line of stdout: readiness, in the JSON forms. Rejects when the program ends without one. */
  firstLine(): Promise<string>;
  readonly done: Promise<{ readonly exitCode: number | null }>;
}

/** The real binary as a process of its own, beside others of the same home. */
export function startProgram(
  argv: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  const child = spawn(process.execPath, [binary, ...argv], {
    env: { PATH: process.env['PATH'], ...environment(home), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const done = new Promise<{ exitCode: number | null }>((resolve) => {
    child.on('close', (exitCode) => {
      if (exitCode !== null) requireValidJson(argv, stdout, stderr);
      resolve({ exitCode });
    });
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    firstLine: () =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const end = stdout.indexOf('\n');
          if (end !== -1) resolve(stdout.slice(0, end));
        };
        child.stdout.on('data', look);
        void done.then(({ exitCode }) => reject(new Error(`it ended with ${exitCode ?? ''}: ${stderr}`)));
        look();
      }),
    done,
  };
}

import { spawn } from 'node:child_process';
import type { Context } from '../../context.ts';

/** Where the tour's commands run and store: the user's own settings do not reach them. */
export interface DemoDirectories {
  readonly workDir: string;
  readonly configDir: string;
  readonly dataDir: string;
}

export interface FinishedProcess {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `leads` command that runs in a process of its own. */
export interface LeadsProcess {
  /** Complete lines of both streams so far, in the order they came. */
  readonly lines: readonly string[];
  readonly finished: Promise<FinishedProcess>;
  /** The lines that match once there are so many; those that there are when the command ends, or 30 s pass, before. */
  waitForLines(pattern: RegExp, count: number): Promise<readonly string[]>;
  /** Ctrl-C. */
  interrupt(): void;
}

const lineTimeoutMs = 30_000;

/** Starts a `leads` command; it is stopped when the tour is interrupted. */
export function startLeads(
  argv: readonly string[],
  directories: DemoDirectories,
  context: Pick<Context, 'program' | 'env' | 'signal'>,
  stdin = '',
): LeadsProcess {
  const [command, ...args] = context.program;
  const child = spawn(command, [...args, ...argv], {
    cwd: directories.workDir,
    env: environment(directories, context.env),
    stdio: 'pipe',
  });
  const lines: string[] = [];
  const texts = { stdout: '', stderr: '' };
  let wake = (): void => undefined;
  for (const name of ['stdout', 'stderr'] as const) {
    let incompleteLine = '';
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      const parts = (incompleteLine + text).split('\n');
      incompleteLine = parts.pop() ?? '';
      lines.push(...parts);
      wake();
    });
  }
  const stop = (): void => void child.kill('SIGTERM');
  context.signal.addEventListener('abort', stop, { once: true });
  let hasEnded = false;
  const finished = new Promise<FinishedProcess>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      context.signal.removeEventListener('abort', stop);
      hasEnded = true;
      wake();
      resolve({ exitCode, ...texts });
    });
  });
  child.stdin.on('error', () => undefined).end(stdin);
  return {
    lines,
    finished,
    async waitForLines(pattern, count) {
      const deadline = setTimeout(() => {
        hasEnded = true;
        wake();
      }, lineTimeoutMs);
      for (;;) {
        const found = lines.filter((line) => pattern.test(line));
        if (found.length >= count || hasEnded) {
          clearTimeout(deadline);
          return found;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    interrupt: () => void child.kill('SIGINT'),
  };
}

function environment(directories: DemoDirectories, env: Context['env']): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(LEADS_.*|FORCE_COLOR|HTTPS?_PROXY|ALL_PROXY)$/i.test(entry[0]),
  );
  return {
    ...Object.fromEntries(kept),
    LEADS_CONFIG_DIR: directories.configDir,
    LEADS_DATA_DIR: directories.dataDir,
  };
}

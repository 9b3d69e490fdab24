import { spawn } from 'node:child_process';
import type { Context } from '../../context.ts';

/** Where the tour's commands run: nothing of the user's own settings reaches them. */
export interface Place {
  readonly directory: string;
  readonly configDir: string;
  readonly dataDir: string;
}

export interface Finished {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One `leads` command that runs. */
export interface Child {
  /** Complete lines of both streams so far, in the order they came. */
  readonly lines: readonly string[];
  readonly done: Promise<Finished>;
  /** The first line that matches, once it is there; undefined when the command ends, or time is up, without one. */
  line(pattern: RegExp): Promise<string | undefined>;
  /** Ctrl-C. */
  interrupt(): void;
}

const patienceMs = 30_000;

/** Starts a `leads` command; it is ended when the tour is. */
export function start(
  argv: readonly string[],
  place: Place,
  context: Pick<Context, 'program' | 'env' | 'signal'>,
  stdin = '',
): Child {
  const [command, ...args] = context.program;
  const child = spawn(command, [...args, ...argv], {
    cwd: place.directory,
    env: environment(place, context.env),
    stdio: 'pipe',
  });
  const lines: string[] = [];
  const texts = { stdout: '', stderr: '' };
  let wake = (): void => undefined;
  for (const name of ['stdout', 'stderr'] as const) {
    let rest = '';
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
      const found = (rest + text).split('\n');
      rest = found.pop() ?? '';
      lines.push(...found);
      wake();
    });
  }
  const stop = (): void => void child.kill('SIGTERM');
  context.signal.addEventListener('abort', stop, { once: true });
  let ended = false;
  const done = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => {
      context.signal.removeEventListener('abort', stop);
      ended = true;
      wake();
      resolve({ exitCode, ...texts });
    });
  });
  child.stdin.on('error', () => undefined).end(stdin);
  return {
    lines,
    done,
    async line(pattern) {
      const deadline = setTimeout(() => {
        ended = true;
        wake();
      }, patienceMs);
      for (;;) {
        const found = lines.find((line) => pattern.test(line));
        if (found !== undefined || ended) {
          clearTimeout(deadline);
          return found;
        }
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    interrupt: () => void child.kill('SIGINT'),
  };
}

function environment(place: Place, env: Context['env']): Record<string, string> {
  const kept = Object.entries(env).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !/^(LEADS_.*|FORCE_COLOR|HTTPS?_PROXY|ALL_PROXY)$/i.test(entry[0]),
  );
  return {
    ...Object.fromEntries(kept),
    LEADS_CONFIG_DIR: place.configDir,
    LEADS_DATA_DIR: place.dataDir,
  };
}

import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

export interface Typed {
  /** What is typed once something is printed, in this order. */
  readonly answers?: readonly (readonly [
    printed: Pick<RegExp, 'test'>,
    keys: () => Promise<string> | string,
  ])[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

export interface Drawn {
  readonly exitCode: number | null;
  readonly text: string;
}

/** A line of shell on a terminal of its own, to its end. */
export async function inTerminal(line: string, { answers = [], env, cwd }: Typed): Promise<Drawn> {
  const child = spawn('script', ['-qefc', `stty cols 80; exec bash -c "$PRINTED"`, '/dev/null'], {
    env: { ...env, PRINTED: line, TERM: 'xterm', NO_COLOR: '1', SHELL: '/bin/bash', LC_ALL: 'C.UTF-8' },
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let text = '';
  const left = [...answers];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    if (left[0]?.[0].test(text) !== true) return;
    const [, keys] = left.shift() ?? [];
    void Promise.resolve(keys?.()).then((typed) => child.stdin.write(typed ?? ''));
  });
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve));
  process.off('exit', kill);
  return { exitCode, text: stripVTControlCharacters(text).replaceAll(/\r+\n?/g, '\n') };
}

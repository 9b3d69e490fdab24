import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { binary, environment } from './listen-process.ts';
import { freshHome } from './run.ts';

export interface TerminalRun {
  readonly child: ChildProcess;
  /** Everything that was drawn so far, cursor movement included. */
  readonly drawn: () => string;
  /** Presses Ctrl-C in the terminal. */
  readonly pressCtrlC: () => void;
  readonly exitCode: Promise<number | null>;
}

/** Whether this machine has the `script` of util-linux, which gives a program a terminal. */
export function hasTerminals(): boolean {
  const { error, output } = spawnSync('script', ['--version'], { encoding: 'utf8' });
  return error === undefined && output.join('').includes('util-linux');
}

/** The real program on a terminal of its own; `line` is shell text in which `$LEADS` is the program. */
export function onTerminal(line: string, env: Readonly<Record<string, string>> = {}): TerminalRun {
  const child = spawn('script', ['-qefc', `stty cols 100 -echo; ${line}`, '/dev/null'], {
    env: {
      PATH: process.env['PATH'],
      SHELL: '/bin/sh',
      TERM: 'xterm',
      NO_COLOR: '1',
      ...environment(freshHome()),
      LEADS: `${process.execPath} ${binary}`,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let drawn = '';
  child.stdout.on('data', (chunk: Buffer) => (drawn += chunk.toString('utf8')));
  return {
    child,
    drawn: () => drawn,
    pressCtrlC: () => child.stdin.write('\u0003'),
    exitCode: new Promise((resolve) => child.on('close', resolve)),
  };
}

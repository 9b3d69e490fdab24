import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { binary, environment } from './listen-process.ts';
import { until } from './until.ts';

/** A shell on a terminal of its own, in which keys are pressed. */
export interface ShellSession {
  /** Everything that was drawn since the last call, when it holds `text` or nothing more comes. */
  readonly press: (keys: string, text: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

export const hasShell = (name: string): boolean =>
  spawnSync(name, ['-c', ':'], { stdio: 'ignore' }).error === undefined;

const prompt = 'ready$ ';

/** Starts `command`, an interactive shell, with `leads` on its PATH, and types `setup`, which must set the prompt. */
export async function openShell(
  command: string,
  { setup, home }: { readonly setup: readonly string[]; readonly home: string },
): Promise<ShellSession> {
  const programs = mkdtempSync(join(tmpdir(), 'leads-programs-'));
  symlinkSync(binary, join(programs, 'leads'));
  // The line is longer than any that is typed: a shell does not break it.
  const child: ChildProcess = spawn('script', ['-qefc', `stty cols 400 rows 100; ${command}`, '/dev/null'], {
    env: {
      PATH: [programs, join(process.execPath, '..'), process.env['PATH']].join(delimiter),
      TERM: 'xterm',
      SHELL: '/bin/sh',
      LC_ALL: 'C.UTF-8',
      ...environment(home),
    },
    cwd: home,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let drawn = '';
  child.stdout?.on('data', (chunk: Buffer) => (drawn += chunk.toString('utf8')));
  // A shell rings the bell in the middle of a word.
  const shown = (): string => stripVTControlCharacters(drawn).replaceAll('\u0007', '');
  const ended = new Promise((resolve) => child.on('close', resolve));
  const press = async (keys: string, text: string): Promise<string> => {
    drawn = '';
    child.stdin?.write(keys);
    await until(
      () => shown().includes(text),
      `${JSON.stringify(text)} after ${JSON.stringify(keys)}`,
      15_000,
    );
    return shown();
  };
  for (const line of setup) await press(`${line}\r`, prompt);
  return {
    press,
    close: async () => {
      child.stdin?.end('\u0003\rexit\r');
      child.kill('SIGHUP');
      // Where the shell does not end by itself, its terminal is taken away.
      const killing = setTimeout(() => child.kill('SIGKILL'), 5000);
      await ended;
      clearTimeout(killing);
    },
  };
}

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasTerminals } from '../support/pty.ts';
import { openShell, hasShell, type ShellSession } from '../support/shell-session.ts';
import { freshHome } from '../support/run.ts';

const bashCompletion = '/usr/share/bash-completion/bash_completion';

const shells = [
  {
    name: 'bash',
    command: 'bash --norc --noprofile -i',
    setup: ["PS1='ready$ '", 'source <(leads completion bash)'],
    fakePath: (folder: string) => `PATH=${folder}:$PATH`,
    isHere: hasShell('bash'),
  },
  {
    name: 'bash with bash-completion',
    command: 'bash --norc --noprofile -i',
    setup: ["PS1='ready$ '", `source ${bashCompletion}`, 'source <(leads completion bash)'],
    fakePath: (folder: string) => `PATH=${folder}:$PATH`,
    isHere: hasShell('bash') && existsSync(bashCompletion),
  },
  {
    name: 'zsh',
    command: 'zsh -f',
    setup: [
      "PS1='ready$ '",
      // As it is, TAB runs what is typed in backquotes, by itself.
      "LISTMAX=0; bindkey '^I' complete-word; autoload -U compinit && compinit -u -D",
      'source <(leads completion zsh)',
    ],
    fakePath: (folder: string) => `PATH=${folder}:$PATH`,
    isHere: hasShell('zsh'),
  },
  {
    name: 'fish',
    command: 'fish --no-config -i',
    setup: ["function fish_prompt; printf 'ready$ '; end", 'leads completion fish | source'],
    fakePath: (folder: string) => `set -x PATH ${folder} $PATH`,
    isHere: hasShell('fish'),
  },
] as const;

const tested = shells.filter(({ isHere }) => isHere);

it('finds every shell where tests must be complete', () => {
  if (process.env['CI'] !== 'true') return;
  expect(tested).toHaveLength(shells.length);
  expect(hasTerminals()).toBe(true);
});

describe.runIf(hasTerminals()).each(tested)('TAB in $name', ({ command, setup, fakePath }) => {
  let shell: ShellSession;
  let home = '';

  beforeAll(async () => {
    home = freshHome();
    writeFileSync(join(home, 'capture.http'), 'POST / HTTP/1.1\n\n{}');
    shell = await openShell(command, { setup, home });
  }, 60_000);

  afterAll(() => shell.close());

  /** What a shell draws for a line and TAB; Ctrl-U removes the line again. */
  const tab = (line: string, text: string): Promise<string> => shell.press(`\u0015${line}\t`, text);

  it('completes commands, flags, choices and files', async () => {
    await tab('leads lis', 'list');
    await tab('leads inbox er', 'erase');
    await tab('leads --retries 3 inbox er', 'erase');
    await tab('leads help exit', 'exit-codes');
    await tab('leads list --accept-i', '--accept-incomplete');
    await tab('leads inbox show --ra', '--raw');
    await tab('leads list --prof', '--profile');
    await tab('leads list --format js', 'json');
    await tab('leads list --format=nd', '--format=ndjson');
    await tab('leads listen --scheme padd', 'paddle');
    await tab('leads config set api.pagin', 'api.pagination');
    await tab('leads verify capt', 'capture.http');
    await tab('leads listen --token-file capt', 'capture.http');
    await tab('leads export -o capt', 'capture.http');
  }, 60_000);

  it('runs nothing, neither what is typed nor leads itself', async () => {
    const canary = join(home, 'canary');
    const folder = join(home, 'fake');
    mkdirSync(folder);
    writeFileSync(join(folder, 'leads'), `#!/bin/sh\ntouch ${canary}\n`, { mode: 0o755 });
    await shell.press(`\u0015${fakePath(folder)}; hash -r 2>/dev/null; echo set\r`, 'set\r\n');
    await tab(`leads list --where 'a=$(touch ${canary}) `, 'touch');
    await tab(`leads inbox show "\`touch ${canary}\``, 'touch');
    await tab('leads insp', 'inspect');
    expect(existsSync(canary)).toBe(false);
  }, 60_000);
});

import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasTerminals } from '../support/pty.ts';
import { openShell, hasShell, type ShellSession } from '../support/shell-session.ts';
import { homeWithLeads } from '../support/home-with-leads.ts';

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

/** A shell costs some seconds, since each TAB is a start of the program: elsewhere one of them is enough. */
const isComplete = process.env['CI'] === 'true';
const tested = shells.filter(({ name, isHere }) => isHere && (isComplete || name === 'bash'));
const others = shells.filter((shell) => !tested.includes(shell)).map(({ name }) => name);

it('finds every shell where tests must be complete', () => {
  if (isComplete) {
    expect(others).toEqual([]);
    expect(hasTerminals()).toBe(true);
  } else {
    process.stdout.write(`TAB is tested with CI=true, and not now, in ${others.join(', ')}\n`);
  }
});

describe.each(tested)('TAB in $name', ({ command, setup, fakePath }) => {
  let shell: ShellSession;
  let home = '';
  let canary = '';

  beforeAll(async () => {
    if (!hasTerminals()) return;
    const place = mkdtempSync(join(tmpdir(), 'leads-canary-'));
    canary = join(place, 'canary');
    home = await homeWithLeads(canary);
    shell = await openShell(command, { setup, home });
  }, 60_000);

  afterAll(() => (hasTerminals() ? shell.close() : undefined));

  /** What a shell draws for a line and TAB; Ctrl-U removes the line again. */
  const tab = (line: string, text: string): Promise<string> => shell.press(`\u0015${line}\t`, text);

  it.runIf(hasTerminals())(
    'completes commands, flags, choices and what this machine knows',
    async () => {
      await tab('leads lis', 'list');
      await tab('leads list --accept-i', '--accept-incomplete');
      await tab('leads list --format js', 'json');
      await tab('leads list --format=nd', '--format=ndjson');
      await tab('leads listen --scheme padd', 'paddle');
      await tab('leads --profile wor', 'work');
      await tab('leads inbox show lead_ol', 'lead_old-1');
      await tab('leads list --fields id,metadata.camp', 'id,metadata.campaign');
      await tab('leads list --where metadata.camp', 'metadata.campaign=');
      await tab(`leads verify ${join(home, 'capt')}`, 'capture.http');
    },
    60_000,
  );

  it.runIf(hasTerminals())(
    'runs nothing that was received, stored or typed',
    async () => {
      // Both ids are offered that are plain words, and none of the others; a second TAB lists them where the first does not.
      await shell.press('\u0015leads inbox show \t\t\t', 'lead_old-1');
      await shell.press('\u0015leads list --category \t\t\t', 'solar');
      await shell.press('\u0015leads list --where \t\t\t', 'metadata.campaign');
      await shell.press('\u0015leads --profile \t\t\t', 'work');
      await tab(`leads list --where 'a=$(touch ${canary}) `, 'touch');
      await tab(`leads inbox show "\`touch ${canary}\``, 'touch');
      expect(existsSync(canary)).toBe(false);
    },
    60_000,
  );

  it.runIf(hasTerminals())(
    'takes what the program prints for data, whatever it is',
    async () => {
      const folder = join(home, 'fake');
      mkdirSync(folder);
      const lines = [
        `$(touch ${canary})`,
        `\`touch ${canary}\``,
        `';touch ${canary};'`,
        `";touch ${canary};"`,
        `(touch ${canary})`,
        `;touch ${canary}`,
        'one-plain-word',
      ];
      const said = lines.map((line) => `${line}\tabout\n`).join('');
      writeFileSync(join(folder, 'said'), `\n${said}`);
      writeFileSync(join(folder, 'leads'), `#!/bin/sh\ncat ${folder}/said\n`, { mode: 0o755 });
      await shell.press(`\u0015${fakePath(folder)}; hash -r 2>/dev/null; echo set\r`, 'set\r\n');
      await shell.press('\u0015leads one-p\t\t\t', 'one-plain-word');
      await shell.press('\u0015leads \t\t\t', 'touch');
      expect(existsSync(canary)).toBe(false);
    },
    60_000,
  );
});

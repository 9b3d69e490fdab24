import type { CommandSpec } from './commands/command-spec.ts';

/** One line of the command table; `load` brings the flags, which in turn bring the code when the command runs. */
export interface CommandEntry {
  readonly name: string;
  readonly group: 'Setup' | 'Pull' | 'Push' | 'Prove' | 'Emulate';
  readonly summary: string;
  load(): Promise<{ default: CommandSpec }>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'login',
    group: 'Setup',
    summary: 'store an API key and check it',
    load: () => import('./commands/login/command.ts'),
  },
  {
    name: 'logout',
    group: 'Setup',
    summary: 'remove the stored API key',
    load: () => import('./commands/logout/command.ts'),
  },
  {
    name: 'config',
    group: 'Setup',
    summary: 'show and change settings',
    load: () => import('./commands/config/command.ts'),
  },
  {
    name: 'list',
    group: 'Pull',
    summary: 'show recent leads',
    load: () => import('./commands/list/command.ts'),
  },
  {
    name: 'show',
    group: 'Pull',
    summary: 'one lead with all its fields',
    load: () => import('./commands/show/command.ts'),
  },
  {
    name: 'export',
    group: 'Pull',
    summary: 'write every lead that matches, each once',
    load: () => import('./commands/export/command.ts'),
  },
  {
    name: 'listen',
    group: 'Push',
    summary: 'receive pushed leads over HTTPS',
    load: () => import('./commands/listen/command.ts'),
  },
  {
    name: 'inbox',
    group: 'Push',
    summary: 'show what was received',
    load: () => import('./commands/inbox/command.ts'),
  },
  {
    name: 'sandbox',
    group: 'Emulate',
    summary: 'the whole service on this machine',
    load: () => import('./commands/sandbox/command.ts'),
  },
  {
    name: 'demo',
    group: 'Emulate',
    summary: 'a tour of it all in ten seconds',
    load: () => import('./commands/demo/command.ts'),
  },
];

const summary = 'list, export and receive leads, and prove that none was lost';

/** The global flags, as every help shows them. */
export const everywhere = `Everywhere: --profile NAME  --base-url URL  --timeout DURATION  --retries N
            -v, --verbose  -q, --quiet  --no-color  -V, --version  -h, --help`;

/** `leads --help`: fits a screen of 24 lines, and is drawn without loading anything else. */
export function rootHelp(): string {
  const rows = commands.map((command, i) => {
    const group = commands[i - 1]?.group === command.group ? '' : command.group;
    return `  ${group.padEnd(8)} ${command.name.padEnd(11)} ${command.summary}`;
  });
  return [
    `leads: ${summary}`,
    '',
    'Usage: leads <command> [flags]',
    '',
    ...rows,
    '',
    everywhere,
    'More about one: leads <command> --help',
    '',
  ].join('\n');
}

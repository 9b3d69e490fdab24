import type { CommandSpec } from './commands/flags/command-spec.ts';
import { rootHelp } from './commands/help/root-help.ts';
import type { Host } from './host.ts';

/** One line of the command table; `load` brings the flags, which in turn bring the code when the command runs. */
interface CommandEntry {
  readonly name: string;
  readonly group: 'Setup' | 'Pull' | 'Push' | 'Prove' | 'Emulate' | 'Shell';
  readonly summary: string;
  readonly load: () => Promise<{ readonly default: CommandSpec }>;
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
    name: 'doctor',
    group: 'Setup',
    summary: 'is everything in order, here and there?',
    load: () => import('./commands/doctor/command.ts'),
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
    name: 'api',
    group: 'Pull',
    summary: 'any request to the service, with the key',
    load: () => import('./commands/api/command.ts'),
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
    name: 'inspect',
    group: 'Push',
    summary: 'a page over the inbox, live',
    load: () => import('./commands/inspect/command.ts'),
  },
  {
    name: 'send',
    group: 'Prove',
    summary: 'deliver leads to a receiver',
    load: () => import('./commands/send/command.ts'),
  },
  {
    name: 'check',
    group: 'Prove',
    summary: 'does a receiver obey the specification?',
    load: () => import('./commands/check/command.ts'),
  },
  {
    name: 'verify',
    group: 'Prove',
    summary: 'is a captured delivery genuine, and if not, why?',
    load: () => import('./commands/verify/command.ts'),
  },
  {
    name: 'audit',
    group: 'Prove',
    summary: 'is any lead missing?',
    load: () => import('./commands/audit/command.ts'),
  },
  {
    name: 'stats',
    group: 'Prove',
    summary: 'counts, bars and delays, and an alarm when they are off',
    load: () => import('./commands/stats/command.ts'),
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
  {
    name: 'completion',
    group: 'Shell',
    summary: 'a script with which a shell completes what is typed',
    load: () => import('./commands/completion/command.ts'),
  },
];

/** What completes a word, for the scripts of `leads completion`; see `completionLines`. */
export async function completionOf(
  asked: readonly string[],
  host: Pick<Host, 'env' | 'platform'>,
): Promise<string> {
  const { completionLines } = await import('./commands/completion/complete.ts');
  return completionLines(asked, commands, host);
}

/** `leads --help` for a terminal of so many columns. */
export const programHelp = (width: number): string => rootHelp(commands, width);

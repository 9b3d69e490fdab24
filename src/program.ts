import type { ListedCommand } from './commands/flags/command-spec.ts';
import { rootHelp } from './commands/help/root-help.ts';

const inGroup = (
  group: ListedCommand['group'],
  rows: readonly (readonly [name: string, summary: string, load: ListedCommand['load']])[],
): ListedCommand[] => rows.map(([name, summary, load]) => ({ name, group, summary, load }));

export const commands: readonly ListedCommand[] = [
  ...inGroup('Setup', [
    [
      'login',
      'store an API key and check it; logout removes it',
      () => import('./commands/login/command.ts'),
    ],
    [
      'logout',
      'remove the stored API key',
      async () => ({ default: (await import('./commands/login/command.ts')).logout }),
    ],
    ['config', 'show and change settings', () => import('./commands/config/command.ts')],
    ['doctor', 'is everything in order, here and there?', () => import('./commands/doctor/command.ts')],
  ]),
  ...inGroup('Pull', [
    ['list', 'show recent leads', () => import('./commands/list/command.ts')],
    ['show', 'one lead with all its fields', () => import('./commands/show/command.ts')],
    ['export', 'write every lead that matches, each once', () => import('./commands/export/command.ts')],
    ['api', 'any request to the service, with the key', () => import('./commands/api/command.ts')],
  ]),
  ...inGroup('Push', [
    ['listen', 'receive pushed leads over HTTPS', () => import('./commands/listen/command.ts')],
    ['inbox', 'show what was received', () => import('./commands/inbox/command.ts')],
    ['inspect', 'a page over the inbox, live', () => import('./commands/inspect/command.ts')],
  ]),
  ...inGroup('Prove', [
    ['send', 'deliver leads to a receiver', () => import('./commands/send/command.ts')],
    ['check', 'does a receiver obey the specification?', () => import('./commands/check/command.ts')],
    [
      'verify',
      'is a captured delivery genuine, and if not, why?',
      () => import('./commands/verify/command.ts'),
    ],
    ['audit', 'is any lead missing?', () => import('./commands/audit/command.ts')],
    [
      'stats',
      'counts, bars and delays, and an alarm when they are off',
      () => import('./commands/stats/command.ts'),
    ],
  ]),
  ...inGroup('Emulate', [
    ['sandbox', 'the whole service on this machine', () => import('./commands/sandbox/command.ts')],
    ['demo', 'a tour of it all in ten seconds', () => import('./commands/demo/command.ts')],
  ]),
  ...inGroup('Shell', [
    [
      'completion',
      'a script with which a shell completes what is typed',
      async () => {
        const { completionCommand } = await import('./commands/completion/command.ts');
        return { default: completionCommand(commands) };
      },
    ],
  ]),
];

/** `leads --help` for a terminal of so many columns. */
export const programHelp = (width: number): string => rootHelp(commands, width);

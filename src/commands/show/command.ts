import { type CommandSpec, lazily } from '../command-spec.ts';

export default {
  name: 'show',
  summary: 'one lead with all its fields',
  description: 'Show one lead with all its fields: from the service, or else from the inbox.',
  formats: ['table', 'json', 'ndjson'],
  flags: (command) => {
    command
      .argument('<id>', 'of the lead')
      .option('--fields <list>', 'only these, such as id,contact.email')
      .option('--relative', 'times as "3m ago"')
      .option('--inbox <file>', 'where received leads are kept');
  },
  examples: ['leads show lead_01', 'leads show lead_01 --json'],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;

import { addFilterFlags } from '../filter-flags.ts';
import { type CommandSpec, lazily } from '../command-spec.ts';

export default {
  name: 'list',
  summary: 'show recent leads',
  description: 'Show leads in the order of the service, which as a rule is newest first.',
  formats: ['table', 'json', 'ndjson', 'csv'],
  flags: (command) => {
    command
      .option('--limit <n>', "how many, counted after filtering, or 'all' (default: 20)")
      .option('--fields <list>', 'only these, such as id,contact.email')
      .option('--relative', 'times as "3m ago"')
      .option('--watch [duration]', 'print new leads as they come (default: look every 30s)');
    addFilterFlags(command);
  },
  examples: [
    'leads list --status new',
    'leads list --since 7d --where metadata.source=facebook --limit all',
    'leads list --fields id,contact.email --format csv',
  ],
  run: lazily(() => import('./run.ts')),
} satisfies CommandSpec;

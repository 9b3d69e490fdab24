import { Option } from 'commander';
import { type CommandSpec, lazily } from '../command-spec.ts';

const place = (): Option => new Option('--inbox <file>', "another inbox than the profile's own");

const several = (flags: string, text: string): Option =>
  new Option(flags, text).argParser((value, before: string[] | undefined) => [...(before ?? []), value]);

export default {
  name: 'inbox',
  summary: 'show what was received',
  examples: ['leads inbox list', 'leads inbox show lead_123', 'leads inbox export > leads.ndjson'],
  subcommands: [
    {
      name: 'list',
      summary: 'deliveries with their verdicts, newest first',
      formats: ['table', 'json', 'ndjson', 'csv'],
      flags: (command) =>
        command
          .addOption(
            several('--verdict <verdict>', 'accepted, duplicate, pending or rejected (repeatable: any of)'),
          )
          .option('--since <time>', 'received then or later: 2026-01-31, yesterday, 7d')
          .option('--until <time>', 'received before then')
          .option('--limit <n>', 'at most so many, or all (default: 20)')
          .addOption(place()),
      examples: ['leads inbox list', 'leads inbox list --verdict rejected --since 1h --json'],
      run: lazily(() => import('./list.ts')),
    },
    {
      name: 'show',
      summary: 'every delivery of one lead, or one delivery, with headers and body',
      formats: ['table', 'json', 'ndjson'],
      flags: (command) =>
        command
          .argument('[id]', 'of the lead')
          .option('--number <n>', 'one delivery, by its number in the list')
          .option('--raw', 'only the raw body, of the first delivery')
          .addOption(place()),
      examples: ['leads inbox show lead_123', 'leads inbox show --number 17 --raw > body.json'],
      run: lazily(() => import('./show.ts')),
    },
    {
      name: 'export',
      summary: "accepted leads in the webhook's own bytes",
      formats: ['ndjson', 'json', 'csv'],
      flags: (command) =>
        command
          .option('--since <time>', 'received then or later: 2026-01-31, yesterday, 7d')
          .option('--until <time>', 'received before then')
          .addOption(place()),
      examples: ['leads inbox export > leads.ndjson', 'leads inbox export --since today --format csv'],
      run: lazily(() => import('./export.ts')),
    },
    {
      name: 'prune',
      summary: 'drop old deliveries; their ids stay known',
      flags: (command) =>
        command
          .option('--before <time>', 'received before then: 2026-01-31, or 30d for older than that')
          .addOption(place()),
      examples: ['leads inbox prune --before 30d'],
      run: lazily(() => import('./prune.ts')),
    },
  ],
} satisfies CommandSpec;

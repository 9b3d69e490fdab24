import { command, leadRecord, serviceExits } from '../flags/command-spec.ts';
import { args, flags } from './options.ts';

export default command({
  name: 'list',
  summary: 'the newest leads, as a table, JSON, NDJSON or CSV',
  description: 'Show leads in the order of the service, which as a rule is newest first.',
  arguments: args,
  flags,
  everyday: ['limit', 'status', 'category', 'since', 'in', 'where', 'fields', 'format'],
  exits: serviceExits,
  output: [leadRecord],
  examples: [
    'leads list --status new',
    'leads list anna',
    'leads list --since 7d --where metadata.source=facebook --limit all',
    'leads list --fields id,contact.email --format csv',
  ],
  load: () => import('./run.ts'),
});

import { command, serviceExits, members } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'stats',
  summary: 'counts, bars and delays, and an alarm when they are off',
  description:
    'Count leads by their fields and by time.\nThose of the service by when they were created, or with --inbox ' +
    'those that were received, with delays, attempts, duplicates and the longest gap.\n' +
    'With --expect it is an alarm: exit 7, and what does not hold on stderr; under --quiet nothing else is printed.',
  flags,
  everyday: ['since', 'in', 'by', 'bucket', 'inbox', 'expect', 'json'],
  exits: { ...serviceExits, 7: 'what --expect says does not hold' },
  output: [
    {
      what: 'one document',
      fields: members('window total undated by bucket series'),
      sometimes: ['inbox', 'expect'],
    },
  ],
  examples: [
    'leads stats --since 7d',
    'leads stats --by category,metadata.source --top 5',
    "leads stats --inbox --since 1d --expect 'gap<30m,duplicate<5%,p95<10s' -q",
  ],
  load: () => import('./run.ts'),
});

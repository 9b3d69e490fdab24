import { command } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'doctor',
  summary: 'is everything in order, here and at the service?',
  description:
    'Checks this machine, the way to the service, what the list operation really does, and what listen needs.\n' +
    '--learn makes at most 25 requests, and writes to the profile only what the answers prove. Exit 7 when a check ' +
    'fails.',
  flags,
  examples: [
    'leads doctor',
    'leads doctor --learn --dry-run',
    'leads doctor --json | jq \'select(.result == "fail")\'',
  ],
  load: () => import('./run.ts'),
});

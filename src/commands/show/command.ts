import { command, leadRecord, serviceExits } from '../flags/command-spec.ts';
import { args, flags } from './options.ts';

export default command({
  name: 'show',
  summary: 'one lead with all its fields',
  description: 'Show one lead with all its fields: from the service, or else from the inbox.',
  arguments: args,
  flags,
  exits: { ...serviceExits, 7: 'there is no such lead' },
  output: [leadRecord],
  examples: ['leads show lead_01', 'leads show lead_01 --json'],
  load: () => import('./run.ts'),
});

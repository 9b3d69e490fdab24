import { command } from '../flags/command-spec.ts';
import { args, flags } from './options.ts';

export default command({
  name: 'send',
  summary: 'deliver leads to a receiver as the service would',
  description:
    'deliver leads to a receiver as the service would: signed, one POST a lead, each acknowledged by 200 or not. ' +
    'Without more it sends one generated lead',
  arguments: args,
  flags,
  examples: [
    'leads send https://localhost:8443/ --token secret',
    'leads send https://localhost:8443/ --token secret --rate 50/s --for 10s',
    'leads send https://localhost:8443/ --token secret --dry-run',
  ],
  load: () => import('./run.ts'),
});

import { command, members, serviceExits } from '../flags/command-spec.ts';
import { args, flags } from './options.ts';

export default command({
  name: 'send',
  summary: 'deliver leads to a receiver as the service would',
  description:
    'Deliver leads to a receiver as the service would: signed, one POST a lead, each acknowledged by 200 or not.\n' +
    'Without more it sends one generated lead.',
  arguments: args,
  flags,
  everyday: ['sample', 'id', 'token', 'scheme', 'secret', 'dryRun', 'json'],
  exits: { ...serviceExits, 7: 'a delivery was not acknowledged' },
  output: [
    {
      what: 'one for each attempt',
      type: 'attempt',
      fields: members('id attempt status latencyMs answer'),
      sometimes: ['error', 'retryInMs'],
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members(
        'openLoop deliveries attempts acknowledged failed byStatus latencyMs achievedRate late',
      ),
    },
  ],
  examples: [
    'leads send https://localhost:8443/ --token secret',
    'leads send https://localhost:8443/ --token secret --rate 50/s --for 10s',
    'leads send https://localhost:8443/ --token secret --dry-run',
  ],
  load: () => import('./run.ts'),
});

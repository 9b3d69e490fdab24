import { command, members } from '../flags/command-spec.ts';
import { receiverUrl } from '../flags/delivery-flags.ts';
import { flags } from './options.ts';

export default command({
  name: 'check',
  summary: 'does a receiver obey the specification?',
  description:
    'Sends a receiver genuine, forged and broken deliveries, and says which rules it breaks.\n' +
    'Test leads have ids such as leads-check-k3f9x2-1; on another host nothing that may be stored is sent without ' +
    '--allow-writes. Exit 7 when a must fails.',
  arguments: { url: { help: 'of the receiver', type: receiverUrl, optional: true } },
  flags,
  everyday: ['token', 'scheme', 'secret', 'only', 'list', 'junit', 'json'],
  exits: {
    5: 'the receiver could not be reached',
    7: 'a must fails or is answered 429, or with --strict a should',
  },
  output: [
    {
      what: 'one for each probe',
      type: 'probe',
      fields: members('name group rule level result expected seen detail hint curl'),
      sometimes: ['known'],
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('target pass fail warn skip accepted'),
    },
    { what: 'with --list: one for each probe', fields: members('name group rule level expected') },
  ],
  examples: [
    'leads check https://localhost:8443/ --token secret',
    'leads check http://localhost:3000/hook --scheme github --secret s3cret --strict --junit check.xml',
    "leads check --list --only 'body.*'",
  ],
  load: () => import('./run.ts'),
});

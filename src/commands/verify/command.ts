import { command, members } from '../flags/command-spec.ts';
import { args, flags } from './options.ts';

export default command({
  name: 'verify',
  summary: 'is a captured delivery genuine, and if not, why?',
  description:
    'Checks one captured delivery as listen does, and says why it does not verify.\nA capture is a HAR file, the ' +
    'output of curl -v, a curl command, a raw HTTP request, a line of listen --json, or --body with --header.',
  arguments: args,
  flags,
  everyday: ['scheme', 'secret', 'token', 'id', 'header', 'url', 'json'],
  exits: { 6: 'the capture cannot be read', 7: 'the delivery is not genuine' },
  output: [
    {
      what: 'one document',
      fields: members('ok scheme reason checks wouldMatch explanation tried form at notes'),
    },
  ],
  examples: [
    'leads verify delivery.har --scheme stripe --secret-file stripe.txt',
    "leads verify --body body.json --header 'x-webhook-token: s3cret' --token s3cret",
    'leads verify --id 17 --token s3cret',
  ],
  load: () => import('./run.ts'),
});

import { command, members } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'sandbox',
  summary: 'the whole service on this machine, to develop and test against',
  description:
    'The whole service on this machine, to develop and test against.\nThe list operation with filters, keys, pages and ' +
    'rate limits, and webhook delivery with retries, over one seeded set of leads, with faults on demand.',
  flags,
  everyday: ['leads', 'every', 'webhook', 'token', 'scheme', 'secret', 'faults'],
  output: [
    {
      what: 'the first line',
      type: 'ready',
      fields: members('url port leads seed webhook'),
      sometimes: ['apiKey'],
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('leads requests attempts acknowledged pending faults'),
    },
  ],
  examples: [
    'leads sandbox',
    'leads sandbox --webhook https://localhost:8443/hook --token secret --every 1s',
    "leads sandbox --leads 1000 --pagination page --faults 'status500=5%,reset=2%,slow=1%:2s'",
  ],
  load: () => import('./run.ts'),
});

import { command, members } from '../flags/command-spec.ts';
import { flags, insteadOfFormerFlags } from './options.ts';

export default command({
  name: 'sandbox',
  summary: 'the whole service on this machine, to develop and test against',
  description:
    'The whole service on this machine, to develop and test against.\nThe list operation with filters, keys, pages and ' +
    'rate limits, and webhook delivery with retries, over one seeded set of leads, with faults on demand.',
  flags,
  everyday: ['leads', 'every', 'webhook', 'token', 'scheme', 'secret', 'faults', 'config'],
  listing: {
    title: 'Keys of --config, with the values of the flags',
    rows: [
      [
        'accounts',
        'a list, each with name, apiKeys, apiKeyFile, leads, seed, newest, from, every, faults, webhooks',
      ],
      [
        'webhooks',
        'a list, each with url, scheme (a name, none, or JSON), secrets, secretFile, retry, paused, deliveryTimeout, deliveryConcurrency, deliveryFaults',
      ],
      ['faults', '{"status500":"5%"}; what a webhook or account does not say, the one around it says'],
      [
        'pages',
        'path, pagination, next, nextField, envelope, params, order, defaultLimit, maxLimit, statusField, totals, gzip',
      ],
      ['rateLimit', 'for each account: "100/1m"'],
      ['host, port, tls', 'where it listens'],
    ],
  },
  output: [
    {
      what: 'the first line',
      type: 'ready',
      fields: members('url port leads seed webhooks openapi'),
      sometimes: ['apiKey', 'accounts'],
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
    `leads sandbox --config '{"pages":{"maxLimit":20}}'`,
    "leads sandbox --leads 1000 --pagination page --faults 'status500=5%,reset=2%,slow=1%:2s'",
  ],
  insteadOfFormerFlags,
  load: () => import('./run.ts'),
});

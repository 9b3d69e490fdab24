import { interval, oneOf, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import { apiFaults, deliveryFaults, type Faults, parseFaults } from '../../sandbox/faults.ts';
import { paginations } from '../../sandbox/sandbox-options.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { httpUrl, retrySchedule } from '../flags/flag-values.ts';
import { schemeFlags, secretInFile } from '../flags/delivery-flags.ts';
import { formatFlags } from '../flags/shared-flags.ts';
import { command, members } from '../flags/command-spec.ts';

const webhookUrl: ValueType<string> = { ...httpUrl, parse: (typed) => httpUrl.parse(typed)?.href };

const faultList = <N extends string>(names: readonly N[], example: string): ValueType<Faults<N>> => ({
  parse: (typed) => parseFaults(typed, names),
  expected: `a list of faults such as ${example}`,
});

/** A person may list new leads for a while before a receiver is started: until then the leads stay new. */
export const usualRetry = '1s,5s,30s,2m,10m,1h';

export const flags = {
  ...inGroup('Leads', {
    leads: {
      value: 'n',
      type: wholeNumber(0, 1_000_000),
      otherwise: '250',
      help: 'how many there are at the start',
    },
    seed: { value: 'seed', type: text, otherwise: '1', help: 'same seed, same leads and faults' },
    every: { value: 'duration', type: interval, help: 'a new lead each' },
  }),
  ...inGroup('Webhook delivery', {
    webhook: { value: 'url', type: webhookUrl, help: 'deliver every lead there' },
    retry: {
      value: 'durations',
      type: retrySchedule,
      with: ['--webhook'],
      otherwise: usualRetry,
      help: "waits before retries, or 'none'",
    },
  }),
  ...schemeFlags('How deliveries are signed'),
  ...inGroup('Faults', {
    faults: {
      value: 'list',
      type: faultList(apiFaults, 'status500=5%'),
      help: "of the API, such as 'status500=5%,status429=5%:2s,reset=2%,slow=1%'",
    },
    deliveryFaults: {
      value: 'list',
      with: ['--webhook'],
      type: faultList(deliveryFaults, 'duplicate=5%'),
      help: "such as 'duplicate=5%,reorder=5%,drop=2%,badSignature=1%'",
    },
  }),
  ...inGroup('The API', {
    port: {
      value: 'n',
      type: wholeNumber(0, 65_535),
      otherwise: '8080',
      help: 'port to listen on, 0 for any',
    },
    apiKey: {
      value: 'key',
      type: text,
      repeatable: true,
      otherwise: 'LEADS_API_KEY or sandbox-key',
      variable: 'LEADS_API_KEY',
      help: 'that opens the API',
    },
    apiKeyFile: secretInFile,
    pagination: { value: 'style', type: oneOf(paginations), otherwise: 'cursor' },
    envelope: {
      value: 'name',
      type: text,
      otherwise: 'data',
      help: 'array in the body, such as result.leads, or none',
    },
  }),
  ...formatFlags(['pretty', 'json']),
} satisfies Flags;

export type Options = OptionsOf<typeof flags>;

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

import { inputFile, text, type ValueType, wholeNumber } from '../../config/value-types.ts';
import { command, members } from '../flags/command-spec.ts';
import { type Arguments, type ArgumentsOf, type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { headerValue, httpUrl, pointInTime } from '../flags/flag-values.ts';
import { leadAtFlag, schemeFlags } from '../flags/delivery-flags.ts';
import { formatFlags, inboxFlags } from '../flags/shared-flags.ts';

/** A URL with its protocol is kept as it is typed: a signature covers the exact text. */
const exactUrl: ValueType<string> = {
  parse: (typed) => {
    const url = httpUrl.parse(typed);
    const hasProtocol = /^https?:\/\//i.test(typed);
    return hasProtocol ? url && typed : url?.href;
  },
  expected: httpUrl.expected,
};

const args = {
  file: { type: inputFile, optional: true, help: 'the capture, - for stdin' },
} satisfies Arguments;

const { verify: _, ...credentials } = schemeFlags('Who sent it (without --scheme: as its header tells)');

const flags = {
  ...credentials,
  ...inGroup('The delivery', {
    id: {
      value: 'delivery',
      type: text,
      without: ['file', '--entry'],
      help: 'one of the inbox, by its number in the list or the id of its lead',
    },
    entry: { value: 'n', type: wholeNumber(1), help: 'which request of the capture, from 1' },
    header: {
      value: 'header',
      type: headerValue,
      repeatable: true,
      help: "'Name: value'; stands for one of the capture, or adds it",
    },
    body: { value: 'file', type: inputFile, help: 'the exact bytes of the body (- for stdin)' },
    url: { value: 'url', type: exactUrl, help: 'that the sender called, where the scheme signs it' },
    ...inboxFlags,
  }),
  ...inGroup('How it is checked', {
    at: {
      value: 'time',
      type: pointInTime,
      otherwise: "the capture's own time, or now",
      help: 'as if it had been received then: 2026-01-31T12:00:00Z, or 2h for two hours ago',
    },
    ...leadAtFlag('where the lead is in the body, as it was said to listen: /data'),
  }),
  ...inGroup('What is printed', { ...formatFlags(['text', 'json']) }),
} satisfies Flags;

export type VerifyOptions = ArgumentsOf<typeof args> & OptionsOf<typeof flags>;

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

import { text, wholeNumber } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { formatFlags, inboxFlags } from '../flags/shared-flags.ts';
import { command, serviceExits, members } from '../flags/command-spec.ts';

const flags = {
  ...inGroup('The service', {
    learn: { help: 'find out what its dialect is, and write that to the profile' },
  }),
  ...inGroup('The receiver', {
    port: { value: 'n', type: wholeNumber(1, 65_535), default: '8443', help: 'that listen would use' },
    host: { value: 'address', type: text, default: '127.0.0.1', help: 'that listen would use' },
    ...inboxFlags,
  }),
  ...inGroup('Output', { ...formatFlags(['pretty', 'json']) }),
} satisfies Flags;

export type DoctorOptions = OptionsOf<typeof flags>;

export default command({
  name: 'doctor',
  summary: 'is everything in order, here and at the service?',
  description:
    'Checks this machine, the way to the service, what the list operation really does, and what listen needs.\n' +
    '--learn makes at most 25 requests, and writes to the profile only what the answers prove. Exit 7 when a check ' +
    'fails.',
  flags,
  everyday: ['learn', 'port', 'inbox', 'json'],
  exits: { ...serviceExits, 7: 'a check fails' },
  output: [
    { what: 'one for each check', type: 'check', fields: ['name', 'result', 'detail', 'hint'] },
    {
      what: 'with --learn: one for each key of the dialect',
      type: 'learnt',
      fields: ['key', 'value', 'evidence'],
      sometimes: ['old'],
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('pass warn fail skip requests learnt written'),
    },
  ],
  examples: [
    'leads doctor',
    'leads doctor --learn',
    'leads doctor --json | jq \'select(.result == "fail")\'',
  ],
  load: () => import('./run.ts'),
});

import { allClasses, meanings } from '../../audit/classify-lead.ts';
import { command, serviceExits, members } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'audit',
  summary: 'is any lead missing?',
  description:
    'Compares what can be pulled with what was received: by id, and field by field where the bytes differ.\n' +
    'Exit 7 when a lead is not the same on both sides, unless it was repaired in this run.\nA list that may be incomplete, or that leaves out most of what was received, proves nothing: exit 5 or 6.',
  flags,
  everyday: [
    'since',
    'received',
    'inbox',
    'settle',
    'lateAfter',
    'missing',
    'takeIn',
    'sendTo',
    'token',
    'watch',
    'junit',
    'json',
  ],
  listing: {
    title: 'What it finds, of each lead the first that fits',
    rows: allClasses.map((name) => [name, meanings[name]]),
  },
  exits: { ...serviceExits, 7: 'a lead is not the same on both sides, and was not repaired' },
  output: [
    {
      what: 'one for each lead that is not the same on both sides',
      type: 'finding',
      fields: members('class id fields createdAt receivedAt reason'),
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('window horizon pulled received matched byClass withoutId repaired'),
    },
  ],
  examples: [
    'leads audit',
    'leads audit --since yesterday --missing > missing.ndjson',
    'leads audit --send-to https://localhost:8443/ --token secret',
  ],
  load: () => import('./run.ts'),
});

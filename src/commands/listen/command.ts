import { command, members } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'listen',
  summary: 'receive pushed leads over HTTPS: verify, store each once, print, forward',
  description:
    'Receives pushed leads over HTTPS: checks who delivers, stores each lead durably, then answers 200.\n' +
    'A lead that came before is a duplicate. Targets get each new one once it is stored.',
  flags,
  everyday: [
    'token',
    'scheme',
    'secret',
    'forwardTo',
    'exec',
    'output',
    'inbox',
    'backfill',
    'port',
    'path',
    'inspect',
    'count',
    'json',
  ],
  exits: { 7: '--count was not reached in the time of --for' },
  output: [
    {
      what: 'the first line',
      type: 'listening',
      fields: members('url path scheme inbox ca'),
      sometimes: ['admin'],
    },
    {
      what: 'one for each lead of a delivery, when it is answered',
      type: 'delivery',
      fields: members('receivedAt verdict reason status durationMs leadId remote attempt source lead'),
      sometimes: members('detail leadNumber leadCount firstAt differs warnings explanation'),
    },
    {
      what: 'one for each attempt to forward a lead',
      type: 'forward',
      fields: members('at leadId target attempt state ok answer status durationMs dueAt'),
      sometimes: ['body'],
    },
    {
      what: 'the deliveries with --format redacted',
      type: 'delivery',
      fields: members('receivedAt verdict reason status durationMs leadId attempt'),
    },
    {
      what: 'one for each round of --backfill',
      type: 'backfill',
      fields: members('round startedAt durationMs fetched known notStored complete error'),
    },
    {
      what: 'the last line',
      type: 'summary',
      fields: members('accepted duplicate rejected other reasons durationMs'),
    },
  ],
  examples: [
    'leads listen --token secret',
    'leads listen --token secret --forward-to http://localhost:3000/webhook',
    'leads listen --token secret --backfill 24h --backfill-every 15m',
    'leads listen --token secret --count 3 --for 30s --format events',
  ],
  load: () => import('./run.ts'),
});

import { command } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'listen',
  summary: 'receive pushed leads over HTTPS',
  description:
    'Receives pushed leads over HTTPS: checks who delivers, stores each lead durably, then answers 200.\n' +
    'A lead that came before, in this run or any other, is a duplicate.',
  flags,
  examples: [
    'leads listen --token secret',
    'leads listen --token secret --forward-to http://localhost:3000/webhook',
    'leads listen --token secret --backfill 24h --backfill-every 15m',
    'leads listen --token secret --count 3 --for 30s --format events',
  ],
  load: () => import('./run.ts'),
});

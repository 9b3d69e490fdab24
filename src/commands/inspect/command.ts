import { command } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'inspect',
  summary: 'a page over the inbox, live',
  description:
    'Serves a page over the inbox to this machine: live list, search, what was sent, why it was rejected, what differs, replay. The address that it prints holds a key: anybody who has it can read the inbox.',
  flags,
  everyday: ['open', 'inbox', 'replayTo', 'token', 'scheme', 'secret'],
  examples: [
    'leads inspect --open',
    'leads inspect --replay-to http://localhost:3000/webhook',
    'leads inspect --inbox inbox.db --port 4040',
  ],
  load: () => import('./run.ts'),
});

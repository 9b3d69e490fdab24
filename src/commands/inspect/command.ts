import { command } from '../flags/command-spec.ts';
import { flags } from './options.ts';

export default command({
  name: 'inspect',
  summary: 'a page over the inbox, live',
  description:
    'Serves a page over the inbox to this machine: live list, what was sent, why it was rejected, replay. Its address is secret: it holds a key.',
  flags,
  everyday: ['open', 'inbox', 'replayTo', 'scheme', 'secret'],
  examples: [
    'leads inspect --open',
    'leads inspect --replay-to http://localhost:3000/webhook',
    'leads inspect --inbox inbox.db --port 4040',
  ],
  load: () => import('./run.ts'),
});

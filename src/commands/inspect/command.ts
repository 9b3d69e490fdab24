import { wholeNumber } from '../../config/value-types.ts';
import { command } from '../flags/command-spec.ts';
import { receiverUrl, schemeFlags } from '../flags/delivery-flags.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { inboxFlags } from '../flags/shared-flags.ts';

const flags = {
  port: { value: 'n', type: wholeNumber(0, 65_535), default: '0', help: 'of 127.0.0.1, 0 for any' },
  open: { help: 'open the page in the browser' },
  ...inboxFlags,
  ...inGroup('Replay', {
    replayTo: {
      value: 'url',
      type: receiverUrl,
      repeatable: true,
      help: 'let the page send stored deliveries there once more, and nowhere else',
    },
  }),
  ...schemeFlags('How replays are signed (default: not at all)'),
} satisfies Flags;

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

export type InspectOptions = OptionsOf<typeof flags>;

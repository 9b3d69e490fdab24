import { wholeNumber } from '../../config/value-types.ts';
import { type Flags, inGroup, type OptionsOf } from '../flags/flag.ts';
import { receiverUrl, schemeFlags } from '../flags/delivery-flags.ts';
import { inboxFlags } from '../flags/shared-flags.ts';

export const flags = {
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

export type InspectOptions = OptionsOf<typeof flags>;

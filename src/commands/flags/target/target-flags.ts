import { text, type ValueType } from '../../../config/value-types.ts';
import { UsageError } from '../../../errors.ts';
import { type Flags, inGroup, type OptionsOf } from '../flag.ts';
import { httpUrl } from '../flag-values.ts';

/** The URL of a receiver. What follows `#` is never sent. Credentials in it would be shown with it. */
export const receiverUrl: ValueType<URL> = {
  ...httpUrl,
  parse: (typed) => {
    const url = httpUrl.parse(typed);
    if (url === undefined) return undefined;
    if (url.username !== '' || url.password !== '') {
      throw new UsageError('the URL holds a user name or password', {
        hint: "leave it out of the URL; a header is added with --header 'Authorization: Basic …'",
      });
    }
    url.hash = '';
    return url;
  },
};

/** Where deliveries may be replayed to: the same on every command that serves the page over the inbox. */
export const replayToFlag = {
  value: 'url',
  type: receiverUrl,
  repeatable: true,
  help: 'let the page send stored deliveries there once more, and nowhere else',
} as const;

/** Which certificates of a receiver are accepted: the same on every command that delivers to one. */
export const trustFlags = inGroup('Trust', {
  ca: {
    value: 'file',
    type: text,
    help: "authority in PEM that issued the receiver's certificate; our own is trusted on this machine",
  },
  insecure: { help: 'take any certificate, of a receiver on this machine only' },
}) satisfies Flags;

export type TrustOptions = OptionsOf<typeof trustFlags>;

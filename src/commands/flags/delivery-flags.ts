import { inputFile, text, type ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import { schemeNames } from '../../webhook/presets.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';
import { httpUrl, secret } from './flag-values.ts';

/** A URL without credentials, which would be shown with it. What follows `#` is never sent. */
const urlWithoutCredentials = (hint: string): ValueType<URL> => ({
  ...httpUrl,
  parse: (typed) => {
    const url = httpUrl.parse(typed);
    if (url === undefined) return undefined;
    if (url.username !== '' || url.password !== '') {
      throw new UsageError('the URL holds a user name or password', { hint });
    }
    url.hash = '';
    return url;
  },
});

/** The URL of a receiver. */
export const receiverUrl = urlWithoutCredentials(
  "leave it out of the URL; a header is added with --header 'Authorization: Basic …'",
);

/** Where deliveries may be replayed to: the same on every command that serves the page over the inbox. */
export const replayToFlag = {
  value: 'url',
  type: urlWithoutCredentials('leave it out of the URL: the page shows it'),
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

/** Read where it is used, since it may be a file. */
const scheme: ValueType<string> = { ...text, expected: 'a scheme', choices: schemeNames };

const everyday = {
  token: {
    value: 'token',
    type: secret,
    repeatable: true,
    without: ['--secret', '--secret-file'],
    setting: 'webhook.token',
    help: 'shared token in x-webhook-token',
  },
  tokenFile: {
    value: 'file',
    type: inputFile,
    repeatable: true,
    without: ['--secret', '--secret-file'],
    help: 'the same, from a file (- for stdin)',
  },
  scheme: {
    value: 'name|json|file',
    type: scheme,
    choicesShown: false,
    setting: 'webhook.scheme',
    help: "stripe, github, …; any other as JSON, itself or in a file: see 'leads help schemes'",
  },
  secret: {
    value: 'secret',
    type: secret,
    repeatable: true,
    setting: 'webhook.secret',
    help: "the scheme's secret; a key in PEM or JWK where it has such keys",
  },
  secretFile: {
    value: 'file',
    type: inputFile,
    repeatable: true,
    help: 'the same, from a file (- for stdin)',
  },
  verify: {
    negated: true,
    without: ['--token', '--token-file', '--secret', '--secret-file', '--scheme'],
    help: 'no authentication at all',
  },
} satisfies Flags;

/** How deliveries are authenticated: the same on every command that receives or sends them. */
export const schemeFlags = (heading: string): typeof everyday => inGroup(heading, everyday);

export type SchemeOptions = OptionsOf<typeof everyday>;

import { oneOf, text, timeZone, type ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';
import { condition, fieldList, httpUrl, pointInTime, stretch, secret } from './flag-values.ts';
import { schemeNames } from '../../webhook/presets.ts';

/** From when to when: the same on every command that has a window of time. */
export const timeFlags = (done: 'created' | 'received') =>
  ({
    since: { value: 'time', type: pointInTime, help: `${done} then or later: 2026-01-31, yesterday, 7d` },
    until: { value: 'time', type: pointInTime, help: `${done} before then` },
    in: {
      value: 'stretch',
      type: stretch,
      help: `${done} in 2026-10, 2026-W42, yesterday, last-month`,
    },
    zone: {
      value: 'zone',
      type: timeZone,
      setting: 'zone',
      otherwise: 'UTC',
      help: 'in which times are read and shown, such as Europe/Madrid',
    },
  }) as const satisfies Flags;

export type TimeOptions = OptionsOf<ReturnType<typeof timeFlags>>;

/** Which leads: the same on every command that pulls. */
export const filterFlags = inGroup('Filters', {
  status: { value: 'status', type: text, help: 'as the service judges it, such as new' },
  category: { value: 'name', type: text, repeatable: true, help: 'any of these' },
  ...timeFlags('created'),
  where: {
    value: 'condition',
    type: condition,
    repeatable: true,
    help: 'PATH=VALUE; also != < <= > >=, and ~ for contains',
  },
}) satisfies Flags;

export type FilterOptions = OptionsOf<typeof filterFlags>;

/** `--format`, and its short form `--json`, which means the first of `json` and `events` that the command has. */
export function formatFlags<const F extends string>(formats: readonly [F, ...F[]]) {
  const json: string = (formats as readonly string[]).includes('json') ? 'json' : 'events';
  return {
    format: { value: 'form', type: oneOf(formats), default: formats[0] as string },
    json: { help: `short for --format ${json}`, shortFor: ['format', json] },
  } as const;
}

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

/** Which inbox a command works on. */
export const inboxFlags = {
  inbox: {
    value: 'place',
    type: text,
    otherwise: "the profile's own",
    variable: 'LEADS_INBOX',
    help: 'a file or postgres://HOST/DATABASE; or @FILE that holds such a URL (@- for stdin)',
  },
} satisfies Flags;

export type InboxFlags = OptionsOf<typeof inboxFlags>;

export const acceptIncompleteFlag = {
  acceptIncomplete: { help: 'take what came, although the service does not show that it is everything' },
} satisfies Flags;

export const fieldsFlag = {
  fields: {
    value: 'list',
    type: fieldList,
    help: 'only these, such as id,contact.email',
  },
} satisfies Flags;

/** Throws a `UsageError` for the first of these that is so: flags that contradict each other, or that would be ignored. */
export function rejectFirst(
  ...rules: readonly (readonly [isSo: boolean, message: string, hint?: string])[]
): void {
  const [, message, hint] = rules.find(([isSo]) => isSo) ?? [];
  if (message !== undefined) throw new UsageError(message, { hint });
}

/** Read where it is used, since it may be a file. */
const scheme: ValueType<string> = { ...text, expected: 'a scheme', choices: schemeNames };

const everyday = {
  token: {
    value: 'token',
    type: secret,
    repeatable: true,
    setting: 'webhook.token',
    help: 'shared token in x-webhook-token',
  },
  tokenFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
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
  secretFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
  verify: { negated: true, help: 'no authentication at all' },
} satisfies Flags;

/** How deliveries are authenticated: the same on every command that receives or sends them. */
export const schemeFlags = (heading: string): typeof everyday => inGroup(heading, everyday);

export type SchemeOptions = OptionsOf<typeof everyday>;

import type { Settings } from '../../config/load-settings.ts';
import { inputFile, text, type ValueType } from '../../config/value-types.ts';
import { UsageError } from '../../errors.ts';
import type { LeadAt } from '../../lead/read-leads.ts';
import type { LeadAtNames } from '../../lead/refusals.ts';
import type { OtherEvents } from '../../webhook/check-delivery.ts';
import { schemeNames } from '../../webhook/vendor-presets.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';
import { headerValue, httpUrl, leadPointer, secret } from './flag-values.ts';

/** The URL of a receiver, without credentials, since messages and the page show it. */
export const receiverUrl: ValueType<URL> = {
  ...httpUrl,
  parse: (typed) => {
    const url = httpUrl.parse(typed);
    if (url === undefined) return undefined;
    if (url.username !== '' || url.password !== '') {
      throw new UsageError('the URL holds a user name or password', {
        hint: "leave it out of the URL; where there is --header, that adds 'Authorization: Basic …'",
      });
    }
    url.hash = '';
    return url;
  },
};

/** The request itself decides these headers: another value would break it, or be untrue. */
const ownHeaders =
  /^(content-length|transfer-encoding|connection|keep-alive|upgrade|expect|te|trailer|proxy-.*)$/i;

/** `--header` of a command that delivers. */
export const header: typeof headerValue = {
  ...headerValue,
  parse: (typed) => {
    const parsed = headerValue.parse(typed);
    const name = parsed?.[0];
    if (name !== undefined && ownHeaders.test(name)) {
      throw new UsageError(`--header: ${name} is set by the request itself`);
    }
    return parsed;
  },
};

export const trustFlags = inGroup('Trust', {
  ca: {
    value: 'file',
    type: text,
    help: "authority in PEM that issued the receiver's certificate; our own is trusted on this machine",
  },
  insecure: { help: 'take any certificate, of a receiver on this machine only' },
}) satisfies Flags;

export type TrustOptions = OptionsOf<typeof trustFlags>;

/** Only the text is kept: the scheme is read when the command runs, since it may be in a file. */
const scheme: ValueType<string> = { ...text, expected: 'a scheme', choices: schemeNames };

/** The twin of a flag with a secret, which other users of the machine could see in the list of processes. */
export const secretInFile = {
  value: 'file',
  type: inputFile,
  repeatable: true,
  help: 'the same, from a file (- for stdin)',
} as const satisfies Flags[string];

/** `--lead-at` of a command that reads deliveries as a receiver does. */
export const leadAtFlag = (help: string) =>
  ({
    leadAt: { value: 'pointer', type: leadPointer, setting: 'webhook.lead', otherwise: 'auto', help },
  }) as const satisfies Flags;

const authentication = {
  token: {
    value: 'token',
    type: secret,
    repeatable: true,
    without: ['--secret', '--secret-file'],
    setting: 'webhook.token',
    help: 'shared token in x-webhook-token',
  },
  tokenFile: { ...secretInFile, without: ['--secret', '--secret-file'] },
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
  secretFile: secretInFile,
  verify: {
    negated: true,
    without: ['--token', '--token-file', '--secret', '--secret-file', '--scheme'],
    help: 'no authentication at all',
  },
} satisfies Flags;

/** How deliveries are authenticated, on every command that receives or sends them. */
export const schemeFlags = (heading: string): typeof authentication => inGroup(heading, authentication);

export type SchemeOptions = OptionsOf<typeof authentication>;

/** Gives the place of leads in a body, the name of the flag or setting that says so, and the field that is their id. */
export function leadPlaceOf({ webhookLead = 'auto', webhookId }: Settings, flag?: LeadAt) {
  const option = '--lead-at';
  const saidBy = flag === undefined ? 'the setting webhook.lead' : option;
  const leadAtNames: LeadAtNames = { saidBy, option };
  return {
    // The profile's pointer was checked when the file was read.
    leadAt: flag ?? leadPointer.parse(webhookLead) ?? 'auto',
    leadAtNames,
    idField: { name: webhookId, option: 'the setting webhook.id' },
  };
}

/** Whether genuine deliveries without a lead are taken, and the name of the setting that says so. */
export const otherEventsOf = ({ takesOtherEvents }: Settings): OtherEvents => ({
  areTaken: takesOtherEvents,
  option: 'the setting webhook.other-events accept',
});

import { anyText, duration, oneOf, text, type ValueType } from '../../config/value-types.ts';
import { schemeNames } from '../../webhook/presets.ts';
import {
  algorithms,
  encodings,
  type PartKey,
  secretEncodings,
  timestampFormats,
} from '../../webhook/scheme-options.ts';
import { secret } from './flag-values.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';

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
    value: 'name',
    type: oneOf(schemeNames),
    choicesShown: false,
    setting: 'webhook.scheme',
    help: "standard-webhooks, stripe, github or another of 'leads help schemes'",
  },
  secret: {
    value: 'secret',
    type: secret,
    repeatable: true,
    setting: 'webhook.secret',
    help: "the scheme's secret, or a key in PEM or JWK where it has such keys",
  },
  secretFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
  tolerance: {
    value: 'duration',
    type: duration,
    help: 'how far a signed time may be off',
    otherwise: '5m',
    setting: 'webhook.tolerance',
  },
  verify: { negated: true, help: 'no authentication at all' },
} satisfies Flags;

/** How deliveries are authenticated: the same on every command that receives or sends them. */
export const schemeFlags = (heading: string): typeof everyday => inGroup(heading, everyday);

/** What the scheme flags give. `publicUrl`: of commands that receive. */
export type SchemeOptions = OptionsOf<typeof everyday> &
  OptionsOf<typeof schemePartFlags> & { readonly publicUrl?: URL | undefined };

const nameList: ValueType<readonly string[]> = {
  parse: (typed) => {
    const names = typed.split(',').map((name) => name.trim());
    return names.includes('') ? undefined : names;
  },
  expected: 'a list such as method,target,digest',
};

/** The parts of a scheme that few services need: commands only name them, and `leads help schemes` explains them. */
export const schemePartFlags = {
  ...inGroup('Flags of some schemes', {
    tokenHeader: {
      value: 'name',
      type: text,
      topic: 'schemes',
      setting: 'webhook.tokenHeader',
      otherwise: 'x-webhook-token',
      help: 'of token: header that holds the token',
    },
    headerPrefix: {
      value: 'name',
      type: text,
      topic: 'schemes',
      setting: 'webhook.headerPrefix',
      help: "of standard-webhooks: the vendor's own name in place of webhook-, which is taken as well",
    },
    require: {
      value: 'list',
      type: nameList,
      topic: 'schemes',
      setting: 'webhook.require',
      otherwise: 'method,target,digest',
      help: 'of rfc9421: what a signature must cover; digest, and any of method, target and components',
    },
    schemeFile: {
      value: 'file',
      type: text,
      topic: 'schemes',
      help: 'a scheme as JSON: {"signatureHeader": "X-Sig", …}, with the names below in camelCase',
    },
  }),
  ...inGroup('Flags of custom', {
    signatureHeader: {
      value: 'name',
      type: text,
      topic: 'schemes',
      setting: 'webhook.custom.signatureHeader',
      help: 'header that holds the signature',
    },
    signatureHeaders: {
      value: 'count',
      type: oneOf(['one', 'several']),
      topic: 'schemes',
      setting: 'webhook.custom.signatureHeaders',
      otherwise: 'one',
      help: 'whether that header may be sent more than once',
    },
    algorithm: {
      value: 'name',
      type: oneOf(algorithms),
      topic: 'schemes',
      setting: 'webhook.custom.algorithm',
      otherwise: 'hmac-sha256',
    },
    encoding: {
      value: 'name',
      type: oneOf(encodings),
      topic: 'schemes',
      setting: 'webhook.custom.encoding',
      otherwise: 'hex',
      help: 'of the signature',
    },
    prefix: {
      value: 'text',
      type: anyText,
      topic: 'schemes',
      setting: 'webhook.custom.prefix',
      help: 'before the signature, such as sha256= or v1=',
    },
    separator: {
      value: 'text',
      type: text,
      topic: 'schemes',
      setting: 'webhook.custom.separator',
      help: 'between several values in that header: any signature among them may match',
    },
    signedContent: {
      value: 'template',
      type: text,
      topic: 'schemes',
      setting: 'webhook.custom.signedContent',
      otherwise: '{timestamp}.{body}, or {body} without a time',
      help: 'of {timestamp} {nonce} {id} {method} {url} {path} {body}; \\n is a line break',
    },
    timestampHeader: {
      value: 'name',
      type: text,
      topic: 'schemes',
      setting: 'webhook.custom.timestampHeader',
      help: 'header that holds the signed time',
    },
    timestampPrefix: {
      value: 'text',
      type: text,
      topic: 'schemes',
      setting: 'webhook.custom.timestampPrefix',
      help: 'before the signed time where it stands in the signature header, such as t=',
    },
    timestampFormat: {
      value: 'form',
      type: oneOf(timestampFormats),
      topic: 'schemes',
      setting: 'webhook.custom.timestampFormat',
      otherwise: 'unix',
    },
    nonceHeader: {
      value: 'name',
      type: text,
      topic: 'schemes',
      setting: 'webhook.custom.nonceHeader',
      help: 'header that holds the signed nonce or delivery id',
    },
    secretEncoding: {
      value: 'name',
      type: oneOf(secretEncodings),
      topic: 'schemes',
      setting: 'webhook.custom.secretEncoding',
      otherwise: 'utf8',
      help: 'of a shared secret, also of rfc9421',
    },
  }),
} satisfies Flags & Record<PartKey, unknown>;

import { anyText, duration, oneOf, text, type ValueType } from '../../config/value-types.ts';
import { schemeNames } from '../../webhook/presets.ts';
import {
  type PartKey,
  type SchemeOptions as SchemeParts,
  schemePartKeys,
  schemeParts,
  settingPathOf,
} from '../../webhook/scheme-options.ts';
import { secret } from './flag-values.ts';
import { type Flags, inGroup, type OptionsOf, type ValueFlag } from './flag.ts';

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

type PartFlags = { readonly [K in PartKey]: ValueFlag<NonNullable<SchemeParts[K]>> };

function partFlag(part: PartKey): ValueFlag<unknown> {
  const { form = 'text', value, values, help, otherwise } = schemeParts[part];
  const type = values === undefined ? { text, 'any-text': anyText, names: nameList }[form] : oneOf(values);
  return { value, type, topic: 'schemes', setting: settingPathOf(part).join('.'), otherwise, help };
}

const [custom, others] = [true, false].map((isCustom) =>
  schemePartKeys.filter((part) => settingPathOf(part).includes('custom') === isCustom),
);
const flagsOf = (parts: readonly PartKey[] = []) =>
  Object.fromEntries(parts.map((part) => [part, partFlag(part)]));

/** The parts of a scheme that few services need: commands only name them, and `leads help schemes` explains them. */
export const schemePartFlags = {
  ...inGroup('Flags of some schemes', {
    ...flagsOf(others),
    schemeFile: {
      value: 'file',
      type: text,
      topic: 'schemes',
      help: 'a scheme as JSON: {"signatureHeader": "X-Sig", …}, with the names below in camelCase',
    },
  }),
  ...inGroup('Flags of custom', flagsOf(custom)),
} as PartFlags & { readonly schemeFile: ValueFlag<string> };

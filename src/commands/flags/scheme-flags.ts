import { text, type ValueType } from '../../config/value-types.ts';
import { schemeNames } from '../../webhook/presets.ts';
import { schemePartKeys, schemeParts } from '../../webhook/scheme-options.ts';
import { secret } from './flag-values.ts';
import { flagName, type Flags, inGroup, type OptionsOf } from './flag.ts';

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

/** What the scheme flags give. `publicUrl`: of commands that receive. */
export type SchemeOptions = OptionsOf<typeof everyday> & { readonly publicUrl?: URL | undefined };

/** A scheme with this key, in single quotes; `custom` needs no name. */
export function exampleScheme(key: string): string {
  const of = schemePartKeys.flatMap((part) => (part === key ? schemeParts[part].of : []));
  return `'{${of.join() === 'custom' ? '' : '"scheme":"NAME",'}"${key}":"…"}'`;
}

/** What stands in the place of a flag of earlier releases, which is a key of a scheme now; undefined for any other word. */
export function formerSchemeFlag(word: string): string | undefined {
  if (word === '--scheme-file') return 'give the file itself: --scheme FILE';
  const key = ['tolerance', ...schemePartKeys].find((name) => `--${flagName(name)}` === word);
  return key && `it is a key of the scheme: --scheme ${exampleScheme(key)}`;
}

import { text, type ValueType } from '../../config/value-types.ts';
import { schemeNames } from '../../webhook/presets.ts';
import { secret } from './flag-values.ts';
import { type Flags, inGroup, type OptionsOf } from './flag.ts';

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
    help: "stripe, github, … or any other as JSON, itself or in a file: see 'leads help schemes'",
  },
  secret: {
    value: 'secret',
    type: secret,
    repeatable: true,
    setting: 'webhook.secret',
    help: "the scheme's secret, or a key in PEM or JWK where it has such keys",
  },
  secretFile: { value: 'file', type: text, repeatable: true, help: 'the same, from a file (- for stdin)' },
  verify: { negated: true, help: 'no authentication at all' },
} satisfies Flags;

/** How deliveries are authenticated: the same on every command that receives or sends them. */
export const schemeFlags = (heading: string): typeof everyday => inGroup(heading, everyday);

/** What the scheme flags give. `publicUrl`: of commands that receive. */
export type SchemeOptions = OptionsOf<typeof everyday> & { readonly publicUrl?: URL | undefined };

/** Flags of earlier releases, which are keys of a scheme now. */
const formerFlags: readonly string[] = [
  ...['tolerance', 'token-header', 'header-prefix', 'require', 'signature-header', 'signature-headers'],
  ...[
    'algorithm',
    'encoding',
    'prefix',
    'separator',
    'signed-content',
    'timestamp-header',
    'timestamp-prefix',
  ],
  ...['timestamp-format', 'nonce-header', 'secret-encoding'],
];

/** What stands in the place of a flag of earlier releases; undefined for any other word. */
export function formerSchemeFlag(word: string): string | undefined {
  if (word === '--scheme-file') return 'give the file itself: --scheme FILE';
  const flag = formerFlags.find((name) => `--${name}` === word);
  const key = flag?.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return key && `it is a key of the scheme: --scheme '{"scheme":"NAME","${key}":"…"}'`;
}

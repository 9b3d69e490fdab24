import { duration, oneOf, text } from '../../../config/value-types.ts';
import { schemeNames } from '../../../webhook/scheme-names.ts';
import { type Flags, inGroup, type OptionsOf } from '../flag.ts';
import { secret } from '../flag-values.ts';
import type { schemePartFlags } from './part-flags.ts';

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

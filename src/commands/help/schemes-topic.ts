import { presets } from '../../webhook/presets/all.ts';
import type { Preset } from '../../webhook/presets/preset.ts';
import { type Flag, flagTerm, type Flags } from '../flags/flag.ts';
import { schemePartFlags } from '../flags/scheme/part-flags.ts';
import { flagText } from './flag-text.ts';

type Row = readonly [term: string, text: string];

/** `leads help schemes`: every scheme with its header, what is signed, and what its secret is. */
export const schemesTopic = {
  about:
    'How deliveries are authenticated: --scheme NAME with --secret, or --token alone. Of asymmetric keys, what receives ' +
    'takes the public half (or derives it from the private one), and what sends takes the private one: PEM, JWK, or the ' +
    'key as the vendor shows it.',
  rows: (): readonly Row[] => [
    ['token', 'x-webhook-token: the shared token itself; nothing is signed'],
    ...presets.map((preset): Row => [preset.name, describe(preset)]),
    [
      'rfc9421',
      'signature-input and signature: HTTP Message Signatures over method, target and content-digest; secret: a shared ' +
        'secret, or an Ed25519, P-256 or RSA key in PEM or JWK',
    ],
    ['custom', 'any other service, by the flags below, webhook.custom.* of the profile, or --scheme-file'],
  ],
  tables: () => [...groups()].map(([title, rows]) => ({ title, rows })),
  examples: [
    'leads listen --scheme paddle --secret-file paddle.txt',
    'leads listen --scheme square --secret s3cret --public-url https://a.example',
    'leads sandbox --webhook http://localhost --scheme paddle --secret s3cret',
    'leads config set webhook.custom.signatureHeader X-Signature',
  ],
};

/** `header: sha256=… over {body}; secret: …` */
function describe(preset: Preset): string {
  const {
    signatureHeader,
    prefix = '',
    timestampPrefix,
    separator = '',
    content,
    algorithm,
    otherNames,
  } = preset;
  const value = timestampPrefix === undefined ? `${prefix}…` : `${timestampPrefix}…${separator}${prefix}…`;
  const also = (otherNames ?? []).map((names) => ` or ${names.signatureHeader}`).join('');
  const signed = content.replace('{decodedUrl}', '{url}');
  const how = algorithm === undefined || algorithm === 'hmac-sha256' ? '' : ` (${algorithm})`;
  return `${signatureHeader}${also}: ${value} over ${signed}${how}; secret: ${preset.secret}`;
}

function groups(): ReadonlyMap<string, readonly Row[]> {
  const rowsOf = new Map<string, readonly Row[]>();
  for (const [key, flag] of Object.entries<Flag>(schemePartFlags satisfies Flags)) {
    const { group = '' } = flag;
    rowsOf.set(group, [...(rowsOf.get(group) ?? []), [flagTerm(key, flag), flagText(flag)]]);
  }
  return rowsOf;
}

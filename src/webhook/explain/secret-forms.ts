import { createSecretKey } from 'node:crypto';
import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import { asymmetricKey } from '../crypto/asymmetric-key.ts';
import { kindOf, takesKey, secretBytes } from '../crypto/signature.ts';
import { type Algorithm, algorithms, type SecretEncoding } from '../scheme-options.ts';
import type { Key } from '../scheme.ts';

/** The ways in which a shared secret is commonly decoded or miscopied. */
export type SecretFormName =
  | 'text'
  | 'base64'
  | 'hex'
  | 'without-whsec'
  | 'with-whsec'
  | 'without-version'
  | 'base64url'
  | 'without-blanks'
  | 'without-blanks-base64'
  | 'without-quotes'
  | 'with-line-break'
  | 'with-crlf'
  | 'base64-of-hex'
  | 'hex-of-base64';

/** Forms that only decode the secret: it stays as it is given. */
const decodings: readonly string[] = ['text', 'base64', 'hex', 'key-pair'];

/** One way to read a secret, and the algorithms that it can then be used with. */
export interface KeyForm {
  /** Its secret is the text as it would have to be given. */
  readonly key: Key;
  readonly algorithms: readonly Algorithm[];
  readonly secret: { readonly to: SecretFormName | 'key-pair'; readonly text?: string };
  /** A key that is not secret has none. */
  readonly encoding: SecretEncoding | undefined;
}

/** Whether another text must be given than that which was. */
export const isChanged = ({ secret }: Pick<KeyForm, 'secret'>): boolean => !decodings.includes(secret.to);

const hmacAlgorithms = ['hmac-sha1', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'] as const;

/** Every way to read a shared secret, as plain text first. */
export function secretForms(secret: Secret): readonly KeyForm[] {
  const given = secret.reveal();
  const forms: KeyForm[] = [];
  const add = (to: SecretFormName, encoding: SecretEncoding, text = given, version?: string): void => {
    const bytes = secretBytes(text, encoding);
    if (bytes === undefined || bytes.length === 0) return;
    if (forms.some(({ key }) => key.material.export().equals(bytes))) return;
    forms.push({
      key: { secret: text === given ? secret : new Secret(text), material: createSecretKey(bytes) },
      algorithms: hmacAlgorithms,
      secret: version === undefined ? { to } : { to, text: version },
      encoding,
    });
  };
  const bare = given.replace(/^whsec_/, '');
  const trimmed = given.trim();
  add('text', 'utf8');
  add('base64', given.startsWith('whsec_') ? 'whsec' : 'base64');
  add('hex', 'hex');
  add('without-whsec', 'utf8', bare);
  add('with-whsec', 'utf8', `whsec_${bare}`);
  if (/^v1a?,/.test(given)) {
    const [version = ''] = given.split(',', 1);
    add('without-version', 'whsec', given.slice(version.length + 1), version);
  }
  add('base64url', 'base64', bare.replaceAll('-', '+').replaceAll('_', '/'));
  // A shell drops every blank, which is the same only where none is inside.
  if (given.replace(/[ \t\r\n]/g, '') === trimmed) {
    add('without-blanks', 'utf8', trimmed);
    add('without-blanks-base64', 'whsec', trimmed);
  }
  add('without-quotes', 'utf8', given.replace(/^(["'])(.*)\1$/s, '$2'));
  add('with-line-break', 'utf8', `${given}\n`);
  add('with-crlf', 'utf8', `${given}\r\n`);
  // Somebody wrote the bytes in the other of the two encodings, and took that as text.
  const fromHex = secretBytes(given, 'hex');
  if (fromHex !== undefined) add('base64-of-hex', 'utf8', fromHex.toString('base64'));
  const fromBase64 = secretBytes(given, 'base64');
  if (fromBase64 !== undefined) add('hex-of-base64', 'utf8', fromBase64.toString('hex'));
  return forms;
}

/** Every way to read the secrets: as shared ones in all their forms, and as keys of asymmetric algorithms. */
export function keyForms(keys: readonly Key[]): readonly KeyForm[] {
  const shared = keys.flatMap(({ secret }) =>
    secret.reveal().includes('-----BEGIN ') ? [] : secretForms(secret),
  );
  return [...shared, ...keys.flatMap(asymmetricForms)];
}

function asymmetricForms({ secret }: Key): readonly KeyForm[] {
  for (const algorithm of ['ed25519', 'ecdsa-p256-sha256', 'rsa-v1_5-sha256'] as const) {
    try {
      const key = asymmetricKey(secret, algorithm);
      const fitting = algorithms.filter((name) => takesKey(name, kindOf(key.material)));
      return [{ key, algorithms: fitting, secret: { to: 'key-pair' }, encoding: undefined }];
    } catch (error) {
      // The secret is no key of this kind.
      if (!(error instanceof ConfigError)) throw error;
    }
  }
  return [];
}

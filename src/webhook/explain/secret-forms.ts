import { createSecretKey } from 'node:crypto';
import { type Algorithm, algorithms, type SecretEncoding } from '../scheme-options.ts';
import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import { asymmetricKey } from '../crypto/asymmetric-key.ts';
import { kindOf, takesKey } from '../crypto/signature.ts';
import { secretBytes } from '../crypto/symmetric-key.ts';
import type { Key } from '../scheme.ts';

/** Another way to read the same secret. */
export interface SecretForm {
  /** Its secret is the text as it would have to be given. */
  readonly key: Key;
  /** Completes "with the secret …". */
  readonly what: string;
  /** For `--secret-encoding`. */
  readonly encoding: SecretEncoding;
  /** Shell text that makes the secret to give from the variable `$SECRET`; undefined where it stays as it is given. */
  readonly shell: string | undefined;
}

/** Every way in which a secret is commonly decoded or miscopied, as plain text first. */
export function secretForms(secret: Secret): readonly SecretForm[] {
  const given = secret.reveal();
  const forms: SecretForm[] = [];
  const add = (what: string, encoding: SecretEncoding, text = given, shell?: string): void => {
    const bytes = secretBytes(text, encoding);
    if (bytes === undefined || bytes.length === 0) return;
    if (forms.some(({ key }) => key.material.export().equals(bytes))) return;
    const own = text === given ? secret : new Secret(text);
    forms.push({ key: { secret: own, material: createSecretKey(bytes) }, what, encoding, shell });
  };
  const bare = given.replace(/^whsec_/, '');
  const trimmed = given.trim();
  add('taken as text', 'utf8');
  add('decoded from base64', given.startsWith('whsec_') ? 'whsec' : 'base64');
  add('decoded from hex', 'hex');
  add("without its 'whsec_'", 'utf8', bare, '"${SECRET#whsec_}"');
  add("with 'whsec_' before it", 'utf8', `whsec_${bare}`, '"whsec_$SECRET"');
  if (/^v1a?,/.test(given)) {
    const [version = ''] = given.split(',', 1);
    add(`without its '${version},'`, 'whsec', given.slice(version.length + 1), `"\${SECRET#${version},}"`);
  }
  add(
    'decoded from base64url',
    'base64',
    bare.replaceAll('-', '+').replaceAll('_', '/'),
    '"$(printf %s "${SECRET#whsec_}" | tr -- -_ +/)"',
  );
  // The shell text drops every blank, which is the same only where none is inside.
  const drops =
    given.replace(/[ \t\r\n]/g, '') === trimmed
      ? '"$(printf %s "$SECRET" | tr -d \' \\t\\r\\n\')"'
      : undefined;
  if (drops !== undefined) {
    add('without the blanks at its ends', 'utf8', trimmed, drops);
    add('without the blanks at its ends, decoded from base64', 'whsec', trimmed, drops);
  }
  add('without the quotes around it', 'utf8', given.replace(/^(["'])(.*)\1$/s, '$2'), '"${SECRET:1:-1}"');
  add('with a line break at its end', 'utf8', `${given}\n`, '"$SECRET"$\'\\n\'');
  add('with CR LF at its end', 'utf8', `${given}\r\n`, '"$SECRET"$\'\\r\\n\'');
  addRewritten(given, add);
  return forms;
}

/** A secret whose bytes somebody wrote in the other of the two encodings, and took as text. */
function addRewritten(
  given: string,
  add: (what: string, encoding: SecretEncoding, text: string, shell: string) => void,
): void {
  const fromHex = secretBytes(given, 'hex');
  if (fromHex !== undefined) {
    const shell = '"$(printf %s "$SECRET" | xxd -r -p | base64 | tr -d \'\\n\')"';
    add('written in base64 instead of hex', 'utf8', fromHex.toString('base64'), shell);
  }
  const fromBase64 = secretBytes(given, 'base64');
  if (fromBase64 !== undefined) {
    const shell = '"$(printf %s "$SECRET" | base64 -d | od -An -v -tx1 | tr -d \' \\n\')"';
    add('written in hex instead of base64', 'utf8', fromBase64.toString('hex'), shell);
  }
}

/** One way to read a secret, and the algorithms that it can then be used with. */
export interface KeyForm {
  readonly key: Key;
  readonly algorithms: readonly Algorithm[];
  /** Completes "with the secret …". */
  readonly what: string;
  /** For `--secret-encoding`; a key that is not secret needs none. */
  readonly encoding: SecretEncoding | 'none';
  /** See `SecretForm`. */
  readonly shell: string | undefined;
}

export const hmacAlgorithms = ['hmac-sha1', 'hmac-sha256', 'hmac-sha512'] as const;

/** Every way to read the secrets: as shared ones in all their forms, and as keys of asymmetric algorithms. */
export function keyForms(keys: readonly Key[]): readonly KeyForm[] {
  const shared = keys.flatMap(({ secret }) =>
    secret.reveal().includes('-----BEGIN ')
      ? []
      : secretForms(secret).map((form) => ({ ...form, algorithms: hmacAlgorithms })),
  );
  return [...shared, ...keys.flatMap(asymmetricForms)];
}

function asymmetricForms({ secret }: Key): readonly KeyForm[] {
  for (const algorithm of ['ed25519', 'ecdsa-p256-sha256', 'rsa-v1_5-sha256'] as const) {
    try {
      const key = asymmetricKey(secret, algorithm);
      const kind = kindOf(key.material);
      const fitting = algorithms.filter((name) => takesKey(name, kind));
      const what = 'taken as a public or private key';
      return [{ key, algorithms: fitting, what, encoding: 'none', shell: undefined }];
    } catch (error) {
      // The secret is no key of this kind.
      if (!(error instanceof ConfigError)) throw error;
    }
  }
  return [];
}

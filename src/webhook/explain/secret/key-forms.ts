import { ConfigError } from '../../../errors.ts';
import { type Algorithm, algorithms, keyKinds, kindOf } from '../../crypto/algorithm.ts';
import { asymmetricKey } from '../../crypto/asymmetric-key.ts';
import { hmacAlgorithms } from '../../crypto/hmac.ts';
import type { SecretEncoding } from '../../crypto/symmetric-key.ts';
import type { Key } from '../../scheme.ts';
import { secretForms } from './secret-forms.ts';

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
      const kind = kindOf(key.material) ?? 'secret';
      const fitting = algorithms.filter((name) => keyKinds[name].includes(kind));
      const what = 'taken as a public or private key';
      return [{ key, algorithms: fitting, what, encoding: 'none', shell: undefined }];
    } catch (error) {
      // The secret is no key of this kind.
      if (!(error instanceof ConfigError)) throw error;
    }
  }
  return [];
}

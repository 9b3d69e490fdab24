import { createSecretKey } from 'node:crypto';
import { ConfigError } from '../../../errors.ts';
import type { Secret } from '../../../secret.ts';
import type { Key, Verifier } from '../../../webhook/scheme.ts';
import type { SchemeSecrets } from '../../flags/scheme/resolve-scheme.ts';

/** The secrets that a scheme reads, and those that it cannot. */
export interface ReadSecrets extends Verifier {
  readonly unreadable: readonly {
    /** As text, for the search alone: nothing is verified with it. */
    readonly key: Key;
    readonly error: ConfigError;
  }[];
}

/** Throws a `ConfigError` for an empty secret. */
export function readSecretsOf({ scheme, secrets }: SchemeSecrets): ReadSecrets {
  const keys: Key[] = [];
  const unreadable: ReadSecrets['unreadable'][number][] = [];
  for (const secret of secrets) {
    try {
      keys.push(scheme.key(secret));
    } catch (error) {
      if (!(error instanceof ConfigError) || isEmpty(secret)) throw error;
      unreadable.push({ key: textKey(secret), error });
    }
  }
  return { scheme, keys, unreadable };
}

const isEmpty = (secret: Secret): boolean => secret.reveal().trim() === '';

const textKey = (secret: Secret): Key => ({
  secret,
  material: createSecretKey(Buffer.from(secret.reveal())),
});

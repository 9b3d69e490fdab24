import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import { hmacAlgorithms } from '../crypto/hmac.ts';
import type { MessageKey } from '../rfc9421/message-key.ts';
import type { Key, Scheme } from '../scheme.ts';
import { customFlags } from './custom-flags.ts';
import { type Finding, joinFlags, type Search, secretFlag } from './finding.ts';
import { searchSignature } from './search-signature.ts';
import { type SecretForm, secretForms } from './secret/secret-forms.ts';

/** Tries the same scheme with the secret decoded or copied in another way. */
export function explainSecretForm(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const symmetric = keys.filter((key) => key.material.type === 'secret' && scheme.name !== 'token');
  const form = symmetric
    .flatMap((key) => secretForms(key.secret))
    .find(({ key }) => search.matches(scheme, delivery, [asKeyOf(scheme, key)]));
  if (form === undefined) return undefined;
  return {
    what: `It matches with the secret ${form.what}: the sender uses it so.`,
    flags: flagsFor(form, delivery, scheme, search),
  };
}

/** Message signatures also want to know which algorithms a key is for. */
function asKeyOf(scheme: Scheme, key: Key): Key {
  if (scheme.name !== 'rfc9421') return key;
  const messageKey: MessageKey = { ...key, algorithms: ['hmac-sha256'] };
  return messageKey;
}

function flagsFor(form: SecretForm, delivery: Delivery, scheme: Scheme, search: Search): string | undefined {
  const secret = secretFlag(scheme.name, scheme.name, form.shell);
  if (secret !== undefined && readsAs(form, scheme)) return secret;
  if (scheme.name === 'custom' || scheme.name === 'rfc9421') {
    return joinFlags(`--secret-encoding ${form.encoding}`, secret);
  }
  // A preset fixes how its secret is read: the same recipe as a custom scheme lets it be said.
  const match = searchSignature(delivery, [{ ...form, algorithms: hmacAlgorithms }], search);
  return match && customFlags(match, scheme.name);
}

/** Whether the scheme itself reads the corrected secret as this form does. */
function readsAs({ key }: SecretForm, scheme: Scheme): boolean {
  try {
    return scheme.key(key.secret).material.export().equals(key.material.export());
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

import { ConfigError } from '../../errors.ts';
import type { Secret } from '../../secret.ts';
import type { Delivery } from '../delivery.ts';
import { schemeNames } from '../presets.ts';
import type { MessageKey } from '../rfc9421/authenticate-message.ts';
import { schemeNamed } from '../scheme-registry.ts';
import type { Key, Scheme } from '../scheme.ts';
import { bodyForms } from './body-forms.ts';
import type { Finding, Fix, Search } from './finding.ts';
import { customFix, searchSignature } from './search-signature.ts';
import { isChanged, type KeyForm, keyForms, secretForms } from './secret-forms.ts';

/** Tries the same scheme and keys on a delivery that differs a little. */
export function explainChangedDelivery(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const matches = (other: Partial<Delivery>): boolean =>
    search.matches(scheme, { ...delivery, ...other }, keys);
  const lowerCased = delivery.rawHeaders.map(
    ([name, value]) =>
      [name, scheme.credentialHeaders.includes(name.toLowerCase()) ? value.toLowerCase() : value] as const,
  );
  if (matches({ rawHeaders: lowerCased })) {
    const match = searchSignature(delivery, keyForms(keys), search);
    return { what: { kind: 'capital-letters' }, fix: match && customFix(match, scheme.name) };
  }
  for (const url of scheme.signsUrl ? otherUrls(delivery) : []) {
    if (matches({ url })) {
      const publicUrl = url.replace(/[?#].*$/, '');
      return {
        what: { kind: 'other-url', signed: url, received: delivery.url },
        fix: { here: scheme.name, options: { publicUrl } },
      };
    }
  }
  if (scheme.name === 'token') return undefined;
  const form = bodyForms(delivery.body).find(({ bytes }) => matches({ body: bytes }));
  return form && { what: { kind: 'changed-body', body: form.name }, captureFix: { body: form.name } };
}

/** The URLs that a proxy may have received, which ends TLS or passes on another host. */
function otherUrls(delivery: Delivery): readonly string[] {
  const url = URL.canParse(delivery.url) ? new URL(delivery.url) : undefined;
  if (url === undefined) return [];
  const header = (name: string): string | undefined =>
    delivery.rawHeaders.find(([key]) => key.toLowerCase() === name)?.[1];
  const hosts = [header('x-forwarded-host'), header('x-original-host'), header('host'), url.host];
  return hosts.flatMap((host) =>
    host !== undefined && /^[\w.:[\]-]{1,253}$/.test(host)
      ? ['https', 'http'].map((protocol) => `${protocol}://${host}${delivery.path}`)
      : [],
  );
}

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
    what: { kind: 'secret-form', secret: form.secret },
    fix: fixFor(form, delivery, scheme, search),
  };
}

/** Message signatures also want to know which algorithms a key is for. */
function asKeyOf(scheme: Scheme, key: Key): Key {
  if (scheme.name !== 'rfc9421') return key;
  const messageKey: MessageKey = { ...key, algorithms: ['hmac-sha256'] };
  return messageKey;
}

function fixFor(form: KeyForm, delivery: Delivery, scheme: Scheme, search: Search): Fix | undefined {
  const { name } = scheme;
  const fix = { here: name, secret: form.secret };
  if (isChanged(form) && readsAs(form, scheme)) return fix;
  if (name === 'rfc9421') return { ...fix, options: { secretEncoding: form.encoding } };
  // A preset fixes how its secret is read: the same recipe as a custom scheme lets it be said.
  const match = searchSignature(delivery, [form], search);
  return match && customFix(match, name);
}

/** Whether the scheme itself reads the corrected secret as this form does. */
function readsAs({ key }: KeyForm, scheme: Scheme): boolean {
  try {
    return scheme.key(key.secret).material.export().equals(key.material.export());
  } catch (error) {
    if (error instanceof ConfigError) return false;
    throw error;
  }
}

/** Tries every other named scheme with the same secrets, and variants of some that only a flag selects. */
export function explainOtherScheme(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const matches = (other: Scheme): boolean => {
    const otherKeys = keys.flatMap(({ secret }) => keyFor(other, secret));
    return otherKeys.length > 0 && search.matches(other, delivery, otherKeys);
  };
  const name = schemeNames
    .filter((known) => known !== scheme.name && known !== 'custom')
    .find((known) => matches(schemeNamed(known)));
  if (name !== undefined) {
    return {
      what: { kind: 'other-scheme', scheme: name, here: scheme.name },
      fix: { here: scheme.name, scheme: name },
    };
  }
  return explainBrand(delivery, scheme, matches) ?? explainCoverage(scheme, matches);
}

/** Standard Webhooks under a vendor's own names of the headers. */
function explainBrand(
  delivery: Delivery,
  here: Scheme,
  matches: (scheme: Scheme) => boolean,
): Finding | undefined {
  const brand = delivery.rawHeaders
    .map(([name]) => /^(.{1,60})-signature$/i.exec(name)?.[1]?.toLowerCase())
    .filter((name) => name !== undefined)
    .slice(0, 3)
    .find((headerPrefix) => matches(schemeNamed('standard-webhooks', { headerPrefix })));
  return brand === undefined
    ? undefined
    : {
        what: { kind: 'other-brand', brand },
        fix: { here: here.name, scheme: 'standard-webhooks', options: { headerPrefix: brand } },
      };
}

/** A message signature that covers less than is required here. */
function explainCoverage(scheme: Scheme, matches: (scheme: Scheme) => boolean): Finding | undefined {
  if (scheme.name !== 'rfc9421') return undefined;
  const require = [['method', 'digest'], ['target', 'digest'], ['digest']].find((parts) =>
    matches(schemeNamed('rfc9421', { require: parts })),
  );
  return require && { what: { kind: 'covers-less' }, fix: { here: scheme.name, options: { require } } };
}

export function keyFor(scheme: Scheme, secret: Secret): readonly Key[] {
  try {
    return [scheme.key(secret)];
  } catch (error) {
    // The secret does not have the form that this scheme uses, so this scheme explains nothing.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import { schemeNames } from '../presets.ts';
import type { MessageKey } from '../rfc9421/authenticate-message.ts';
import { schemeNamed } from '../scheme-registry.ts';
import type { Key, Scheme } from '../scheme.ts';
import { type BodyForm, bodyForms } from './body-forms.ts';
import { customFlags } from './custom-flags.ts';
import { type Finding, joinFlags, type Search, secretFlag, shellWord } from './finding.ts';
import { searchSignature } from './search-signature.ts';
import { hmacAlgorithms, keyForms, type SecretForm, secretForms } from './secret-forms.ts';

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
    return {
      what: 'The signature is right, but written in capital letters.',
      flags: match && customFlags(match, scheme.name),
    };
  }
  for (const url of scheme.signsUrl ? otherUrls(delivery) : []) {
    if (matches({ url })) {
      const what = `The signature was made for ${url}, but the delivery came to ${delivery.url}: something in front changed it.`;
      return { what, flags: `--public-url ${shellWord(url.replace(/[?#].*$/, ''))}` };
    }
  }
  if (scheme.name === 'token') return undefined;
  const form = bodyForms(delivery.body).find(({ bytes }) => matches({ body: bytes }));
  return form && { what: changedBody(form), captureFlags: bodyFlag(form) };
}

export const bodyFlag = ({ name }: Pick<BodyForm, 'name'>): string => `--body-form ${name}`;

export const changedBody = ({ what }: Pick<BodyForm, 'what'>): string =>
  `The signature was made over ${what}, not over the bytes that came: sign what is sent, or look for what changed it on its way.`;

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

/** Tries every other named scheme with the same secrets, and variants of some that only a flag selects. */
export function explainOtherScheme(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const matches = (other: Scheme): boolean => {
    const otherKeys = keys.flatMap((key) => keyFor(other, key));
    return otherKeys.length > 0 && search.matches(other, delivery, otherKeys);
  };
  const name = schemeNames
    .filter((known) => known !== scheme.name && known !== 'custom')
    .find((known) => matches(schemeNamed(known)));
  if (name !== undefined) {
    const what = `It matches under the scheme '${name}', and the scheme here is '${scheme.name}'.`;
    return { what, flags: joinFlags(`--scheme ${name}`, secretFlag(scheme.name, name)) };
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
  if (brand === undefined) return undefined;
  return {
    what: `It matches under the scheme 'standard-webhooks' with its headers named ${brand}-….`,
    flags: joinFlags(
      `--scheme standard-webhooks --header-prefix ${shellWord(brand)}`,
      secretFlag(here.name, 'standard-webhooks'),
    ),
  };
}

/** A message signature that covers less than is required here. */
function explainCoverage(scheme: Scheme, matches: (scheme: Scheme) => boolean): Finding | undefined {
  if (scheme.name !== 'rfc9421') return undefined;
  const less = [['method', 'digest'], ['target', 'digest'], ['digest']].find((require) =>
    matches(schemeNamed('rfc9421', { require })),
  );
  return less === undefined
    ? undefined
    : {
        what: 'The signature matches, but covers less than is required here.',
        flags: `--require ${less.join(',')}`,
      };
}

function keyFor(scheme: Scheme, key: Key): readonly Key[] {
  try {
    return [scheme.key(key.secret)];
  } catch (error) {
    // The secret does not have the form that this scheme uses, so this scheme explains nothing.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

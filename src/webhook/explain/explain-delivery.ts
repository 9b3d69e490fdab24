import { ConfigError } from '../../errors.ts';
import type { Delivery } from '../delivery.ts';
import type { Key, Scheme, Verification } from '../scheme.ts';
import { schemeNames } from '../scheme-names.ts';
import { schemeNamed } from '../scheme-registry.ts';
import { bodyForms } from './body-forms.ts';
import { customFlags } from './custom-flags.ts';
import { type HmacMatch, searchHmac } from './search-hmac.ts';
import { secretForms } from './secret-forms.ts';
import { explainTime } from './explain-time.ts';
import { explainToken } from './explain-token.ts';

/**
 * Why a rejected delivery did not verify: sentences for the operator's own terminal, without any secret or signature.
 * Nothing is accepted because of it. `now` in milliseconds; work and output are bounded whatever was sent.
 */
export function explainDelivery(
  delivery: Delivery,
  { scheme, keys }: { readonly scheme: Scheme; readonly keys: readonly Key[] },
  now: number,
): readonly string[] {
  const verification = scheme.authenticate(delivery, keys);
  if (verification.ok) return explainTime(verification, scheme, now);
  const explanation =
    explainToken(delivery, scheme, keys) ??
    explainChangedDelivery(delivery, scheme, keys) ??
    explainSecretForm(delivery, scheme, keys) ??
    explainOtherScheme(delivery, scheme, keys);
  if (explanation !== undefined) return [explanation];
  const match = searchHmac(delivery, keys);
  if (match !== undefined) return describeMatch(match);
  return explainNoMatch(delivery, scheme, verification);
}

/** Tries the same scheme and keys on a delivery that differs a little. */
function explainChangedDelivery(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
): string | undefined {
  const matches = (other: Partial<Delivery>): boolean =>
    scheme.authenticate({ ...delivery, ...other }, keys).ok;
  const lowerCased = delivery.rawHeaders.map(
    ([name, value]) =>
      [name, scheme.credentialHeaders.includes(name.toLowerCase()) ? value.toLowerCase() : value] as const,
  );
  if (matches({ rawHeaders: lowerCased })) return 'The signature is right, but written in capital letters.';
  for (const url of otherUrls(delivery)) {
    if (matches({ url })) {
      return `The signature was made for ${url}, but the delivery came to ${delivery.url}: something in front changed it.`;
    }
  }
  if (scheme.name === 'token') return undefined;
  const form = bodyForms(delivery.body).find(({ bytes }) => matches({ body: bytes }));
  return form && changedBody(form.what);
}

const changedBody = (what: string): string =>
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

/** Tries the same scheme with the secret decoded in another way. */
function explainSecretForm(delivery: Delivery, scheme: Scheme, keys: readonly Key[]): string | undefined {
  const symmetric = keys.filter((key) => key.material.type === 'secret' && scheme.name !== 'token');
  const form = symmetric
    .flatMap((key) => secretForms(key.secret))
    .find(({ key }) => scheme.authenticate(delivery, [key]).ok);
  return form && `It matches with the secret ${form.what}: the sender uses it so.`;
}

/** Tries every other named scheme with the same secrets. */
function explainOtherScheme(delivery: Delivery, scheme: Scheme, keys: readonly Key[]): string | undefined {
  for (const name of schemeNames) {
    if (name === scheme.name || name === 'custom') continue;
    const other = schemeNamed(name);
    const otherKeys = keys.flatMap((key) => keyFor(other, key));
    if (otherKeys.length === 0 || !other.authenticate(delivery, otherKeys).ok) continue;
    return `It matches under the scheme '${name}', and the scheme here is '${scheme.name}'.`;
  }
  return undefined;
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

function describeMatch(match: HmacMatch): readonly string[] {
  const { signature, secret, content, timestampHeader, timestamp, idHeader, body } = match;
  const over = content.replaceAll('\n', '\\n');
  const where = [
    timestamp === undefined ? [] : [`{timestamp} from ${timestampHeader ?? signature.header}`],
    idHeader === undefined ? [] : [`{id} from ${idHeader}`],
  ].flat();
  const flags = customFlags(match);
  return [
    `The header ${signature.header} holds a matching ${signature.algorithm} in ${signature.capitals ? 'upper-case ' : ''}${signature.encoding}, made over '${over}'${where.length === 0 ? '' : ` (${where.join(', ')})`} with the secret ${secret.what}.`,
    ...(body === undefined ? [] : [changedBody(body.what)]),
    ...(flags === undefined || body !== undefined ? [] : [`To take such deliveries: ${flags}`]),
  ];
}

/** Nothing matches: says at least which scheme the headers look like. */
function explainNoMatch(delivery: Delivery, scheme: Scheme, verification: Verification): readonly string[] {
  const names = delivery.rawHeaders.map(([name]) => name.toLowerCase());
  const similar = schemeNames
    .filter((name) => name !== 'custom' && name !== scheme.name)
    .filter((name) => schemeNamed(name).credentialHeaders.every((header) => names.includes(header)));
  if (similar.length > 0) {
    return [
      `It carries the header of the scheme '${similar.join("' and '")}', but does not match with this secret; the scheme here is '${scheme.name}'.`,
    ];
  }
  if (!verification.ok && verification.reason === 'missing_credential') {
    return [
      `No header holds anything that matches; the scheme '${scheme.name}' reads ${scheme.credentialHeaders.join(', ')}.`,
    ];
  }
  return [
    'No known scheme, encoding or form of the body matches: the sender has another secret, or the body was changed on its way.',
  ];
}

import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import type { TimestampFormat } from '../scheme-options.ts';
import type { Delivery } from '../delivery.ts';
import { schemeNames } from '../presets.ts';
import { schemeNamed, withPublicUrl } from '../scheme-registry.ts';
import type { Authentic, Key, Scheme, Verification, Verifier } from '../scheme.ts';
import { checkTimestamp, isPlausible } from '../timestamp.ts';
import { bodyForms } from './body-forms.ts';
import { behindWord, changedBody, customMatchText, secretText, unitName } from './explanation-text.ts';
import { type Finding, Search, type SecretChange, type Fix } from './finding.ts';
import { customFix, searchSignature } from './search-signature.ts';
import { keyForms, secretForms, isChanged, type KeyForm } from './secret-forms.ts';
import { equalInConstantTime } from '../crypto/signature.ts';

/** What a rejected delivery would have matched, and how many combinations were tried. */
export interface Explanation {
  /** Undefined for a delivery that verifies. */
  readonly finding: Finding | undefined;
  /** False: nothing matches, and the finding says what can be said then. */
  readonly isMatch: boolean;
  readonly tried: number;
  /** How the delivery verifies with the fix of the finding; undefined where it has none. */
  readonly proof: Proof | undefined;
}

interface Proof {
  readonly authentic: Authentic;
  readonly toleranceMs: number | undefined;
}

/**
 * Why a delivery did not verify, without any secret or signature: a bounded search for what it would have matched. Work
 * and output are bounded whatever was sent. `unreadable`: secrets that do not have the form which the scheme reads; the
 * search tries them as well.
 */
export function explain(
  delivery: Delivery,
  verifier: Verifier,
  now: number,
  unreadable: readonly Key[] = [],
): Explanation {
  const { scheme, keys } = verifier;
  const search = new Search();
  const verification = scheme.authenticate(delivery, keys);
  if (verification.ok) {
    const finding = explainTime(verification, delivery, verifier, now, search);
    return { isMatch: finding !== undefined, tried: search.tried, ...proven(finding, delivery, verifier) };
  }
  const allKeys = [...keys, ...unreadable];
  const match = findMatch(delivery, verifier, allKeys, search);
  const finding = match ?? explainNoMatch(delivery, scheme, verification);
  const isMatch = match !== undefined;
  return { isMatch, tried: search.tried, ...proven(finding, delivery, { scheme, keys: allKeys }) };
}

/** The finding with its fix only where that is tried here and verifies: a header may be there twice, or hold more than is read. */
function proven(
  finding: Finding | undefined,
  delivery: Delivery,
  { scheme: own, keys: given }: Verifier,
): Pick<Explanation, 'finding' | 'proof'> {
  if (finding?.fix === undefined && finding?.captureFix?.body === undefined) {
    return { finding, proof: undefined };
  }
  const { fix = { here: own.name }, captureFix } = finding;
  const { publicUrl, ...options } = fix.options ?? {};
  const url = publicUrl === undefined ? undefined : new URL(publicUrl);
  try {
    const isOwn = fix.scheme === undefined && Object.keys(options).length === 0;
    const scheme = withPublicUrl(isOwn ? own : schemeNamed(fix.scheme ?? fix.here, options), url);
    const keys = given
      .flatMap(({ secret }) => asGiven(secret, fix.secret))
      .flatMap((secret) => keyFor(scheme, secret));
    const form = captureFix?.body;
    const body = bodyForms(delivery.body).find(({ name }) => name === form)?.bytes ?? delivery.body;
    const authentic = scheme.authenticate({ ...delivery, body }, keys);
    if (authentic.ok) return { finding, proof: { authentic, toleranceMs: scheme.toleranceMs } };
  } catch (error) {
    // No receiver can be told of such a scheme.
    if (!(error instanceof ConfigError)) throw error;
  }
  return { finding: { what: finding.what }, proof: undefined };
}

/** The secret as it is given when it is changed so; nothing where it cannot be. */
function asGiven(secret: Secret, change: SecretChange | undefined): readonly Secret[] {
  const given = secret.reveal();
  if (change === undefined || change.to === 'key-pair') return [secret];
  switch (change.to) {
    case 'behind-word':
      return [new Secret(`${change.text ?? ''}${given}`)];
    case 'in-single-quotes':
      return [new Secret(`'${given}'`)];
    case 'in-double-quotes':
      return [new Secret(`"${given}"`)];
    case 'without-blanks':
      return [new Secret(given.replace(/[ \t\r\n]/g, ''))];
    default:
      return secretForms(secret).flatMap((form) => (form.secret.to === change.to ? [form.key.secret] : []));
  }
}

function findMatch(
  delivery: Delivery,
  { scheme, keys }: Verifier,
  allKeys: readonly Key[],
  search: Search,
): Finding | undefined {
  const found =
    explainToken(delivery, scheme, allKeys, search) ??
    explainChangedDelivery(delivery, scheme, keys, search) ??
    explainSecretForm(delivery, scheme, allKeys, search) ??
    explainOtherScheme(delivery, scheme, allKeys, search);
  if (found !== undefined) return found;
  const match = searchSignature(delivery, keyForms(allKeys), search);
  if (match === undefined) return undefined;
  const { signature, algorithm, key, content, timestamp, id, timeUnit } = match;
  const body = match.body?.name;
  return {
    what: customMatchText({
      header: signature.header,
      algorithm,
      encoding: signature.encoding,
      content,
      timestamp: timestamp && { header: timestamp.header, prefix: timestamp.prefix, signedAs: timeUnit },
      idHeader: id?.header,
      secret: key.secret,
      body,
    }),
    fix: customFix(match, scheme.name),
    captureFix: body && { body },
  };
}

/** Nothing matches: says at least which scheme the headers look like. */
function explainNoMatch(delivery: Delivery, scheme: Scheme, verification: Verification): Finding {
  const names = delivery.rawHeaders.map(([name]) => name.toLowerCase());
  const similar = schemeNames
    .filter((name) => name !== 'custom' && name !== scheme.name)
    .filter((name) => names.includes(schemeNamed(name).credentialHeaders[0] ?? ''));
  const { name: here, credentialHeaders: headers } = scheme;
  if (similar.length > 0 && !similar.some((name) => sharesHeader(name, scheme))) {
    const names = similar.join("' and '");
    return {
      what: `It carries the header of the scheme '${names}', but does not match with this secret; the scheme here is '${here}'.`,
    };
  }
  const isAbsent = !verification.ok && verification.reason === 'missing_credential';
  return {
    what: isAbsent
      ? `No header holds anything that matches; the scheme '${here}' reads ${headers.join(', ')}.`
      : 'No known scheme, encoding or form of the body matches: the sender has another secret, or the body was changed on its way.',
  };
}

/** Such as GitHub's and Meta's: the header alone does not tell them apart. */
const sharesHeader = (name: string, scheme: Scheme): boolean =>
  schemeNamed(name).credentialHeaders[0] === scheme.credentialHeaders[0];

/** Why the time of an authentic delivery is rejected at `now` (ms): read in the wrong unit, or clocks that differ. */
function explainTime(
  authentic: Authentic,
  delivery: Delivery,
  { scheme, keys }: Verifier,
  now: number,
  search: Search,
): Finding | undefined {
  const { timestamp } = authentic;
  if (timestamp === undefined || checkTimestamp(authentic, scheme.toleranceMs, now).ok) return undefined;
  const inUnit = (unit: TimestampFormat, read: TimestampFormat): Finding => {
    const here = scheme.name;
    const match = searchSignature(delivery, keyForms(keys), search);
    const other = here === 'custom' ? '' : `: ${here} signs another unit`;
    const what = `The signature matches; its time is in ${unitName(unit)} and was read as ${unitName(read)}${other}.`;
    return { what, fix: match && customFix(match, here) };
  };
  if (!isPlausible(timestamp) && isPlausible(timestamp / 1000)) return inUnit('milliseconds', 'unix');
  if (!isPlausible(timestamp) && isPlausible(timestamp * 1000)) return inUnit('unix', 'milliseconds');
  return {
    what:
      timestamp > now
        ? 'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.'
        : 'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.',
    // Behind all years that can be written down no `--at` names it.
    captureFix: timestamp > lastTime ? undefined : { signedAt: timestamp },
  };
}

const lastTime = Date.UTC(9999, 11, 31);

/** Why a token was rejected that is nearly right, or right but in the wrong header. */
function explainToken(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const [own] = scheme.credentialHeaders;
  const tokens = keys.map((key) => key.secret.reveal());
  for (const [name, value] of delivery.rawHeaders) {
    const received = Buffer.from(value, 'latin1').toString('utf8');
    const matches = (change: (text: string) => string, changeOwn = change): boolean => {
      search.tried += tokens.length;
      return tokens.some((token) =>
        equalInConstantTime(Buffer.from(changeOwn(token)), Buffer.from(change(received))),
      );
    };
    const header = name.toLowerCase();
    const isWhole = matches(unchanged);
    if (isWhole || matches(withoutScheme, unchanged)) {
      if (scheme.name === 'token' && isWhole && header === own) return undefined;
      const [word = ''] = /^[A-Za-z]+ +/.exec(received) ?? [];
      return {
        what:
          scheme.name === 'token'
            ? `The right token came in the header ${header}${behindWord(isWhole)}, not by itself in ${own ?? ''}.`
            : `The secret itself came in the header ${header}${behindWord(isWhole)}: it was sent as a token, and nothing was signed with it.`,
        fix: {
          here: scheme.name,
          scheme: unlessToken(scheme.name),
          options: { tokenHeader: header },
          secret: isWhole ? undefined : { to: 'behind-word', text: word },
        },
      };
    }
    if (header !== own || scheme.name !== 'token') continue;
    const alike = (difference: string, to?: SecretChange['to']): Finding => ({
      what: `The token is right except for ${difference}.`,
      fix: to && { here: 'token', secret: { to } },
    });
    if (matches(unquoted)) return alike('the quotes around it', quotesChanged(tokens, received));
    if (matches(percentDecoded)) return alike('percent-encoding');
    if (matches((text) => text.toLowerCase())) return alike('capital and small letters');
    if (matches(withoutBlanks)) {
      // The blanks may be in what came: no token that is given can have them.
      const isGiven = tokens.some((token) => withoutBlanks(token) === received);
      return alike('white space', isGiven ? 'without-blanks' : undefined);
    }
  }
  return undefined;
}

const unlessToken = (scheme: string): string | undefined => (scheme === 'token' ? undefined : 'token');

const unchanged = (text: string): string => text;

const withoutBlanks = (text: string): string => text.replace(/\s+/g, '');

/** The token with, or without, the quotes that are around the other one. */
function quotesChanged(tokens: readonly string[], received: string): SecretChange['to'] {
  if (tokens.some((token) => token !== received && unquoted(token) === received)) return 'without-quotes';
  return received.startsWith("'") ? 'in-single-quotes' : 'in-double-quotes';
}

const withoutScheme = (text: string): string => text.replace(/^[A-Za-z]+ +/, '');

const unquoted = (text: string): string => text.replace(/^(["'])(.*)\1$/s, '$2');

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Tries the same scheme and keys on a delivery that differs a little. */
function explainChangedDelivery(
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
      fix: match && customFix(match, scheme.name),
    };
  }
  for (const url of scheme.signsUrl ? otherUrls(delivery) : []) {
    if (matches({ url })) {
      const publicUrl = url.replace(/[?#].*$/, '');
      return {
        what: `The signature was made for ${url}, but the delivery came to ${delivery.url}: something in front changed it.`,
        fix: { here: scheme.name, options: { publicUrl } },
      };
    }
  }
  if (scheme.name === 'token') return undefined;
  const form = bodyForms(delivery.body).find(({ bytes }) => matches({ body: bytes }));
  return form && { what: changedBody(form.name), captureFix: { body: form.name } };
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
function explainSecretForm(
  delivery: Delivery,
  scheme: Scheme,
  keys: readonly Key[],
  search: Search,
): Finding | undefined {
  const symmetric = keys.filter((key) => key.material.type === 'secret' && scheme.name !== 'token');
  const form = symmetric
    .flatMap((key) => secretForms(key.secret))
    .find(({ key }) => search.matches(scheme, delivery, [key]));
  if (form === undefined) return undefined;
  return {
    what: `It matches with the secret ${secretText(form.secret).what}: the sender uses it so.`,
    fix: fixFor(form, delivery, scheme, search),
  };
}

function fixFor(form: KeyForm, delivery: Delivery, scheme: Scheme, search: Search): Fix | undefined {
  const { name } = scheme;
  const fix = { here: name, secret: form.secret };
  if (isChanged(form) && readsAs(form, scheme)) return fix;
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
function explainOtherScheme(
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
      what: `It matches under the scheme '${name}', and the scheme here is '${scheme.name}'.`,
      fix: { here: scheme.name, scheme: name },
    };
  }
  return explainBrand(delivery, scheme, matches);
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
        what: `It matches under the scheme 'standard-webhooks' with its headers named ${brand}-….`,
        fix: { here: here.name, scheme: 'standard-webhooks', options: { headerPrefix: brand } },
      };
}

function keyFor(scheme: Scheme, secret: Secret): readonly Key[] {
  try {
    return [scheme.key(secret)];
  } catch (error) {
    // The secret does not have the form that this scheme uses, so this scheme explains nothing.
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

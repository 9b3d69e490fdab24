import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import type { Delivery } from '../delivery.ts';
import { presets, schemeNames } from '../presets.ts';
import type { Key, Scheme, Verification, Verifier } from '../scheme.ts';
import { type CustomOptions, timestampFormats } from '../scheme-options.ts';
import { readSchemeDefinition, schemeNamed, withPublicUrl } from '../scheme-registry.ts';
import { checkTimestamp, isPlausible } from '../timestamp.ts';
import { bodyForms } from './body-forms.ts';
import { candidateSignatures } from './candidate-signatures.ts';
import { secretChanges, type SecretChange } from './secret-changes.ts';

/** The JSON of a scheme, as `--scheme` takes it. A name alone is that preset. */
type SchemeJson = Readonly<Record<string, string | undefined>>;

export interface Fix {
  readonly currentScheme: string;
  readonly scheme?: SchemeJson | undefined;
  readonly secret?: SecretChange | undefined;
  /** In milliseconds since the epoch, where this capture verifies only at that time. */
  readonly signedAt?: number | undefined;
}

export interface Explanation {
  readonly sentence: string | undefined;
  readonly isMatch: boolean;
  readonly fix: Fix | undefined;
  readonly tried: number;
}

/** A change to try: it is the cause if the delivery verifies with it. */
interface Cause extends Omit<Fix, 'currentScheme' | 'signedAt'> {
  readonly sentence: string;
  /** The body that was signed. Nothing that a receiver can be told mends another one. */
  readonly body?: Uint8Array;
}

/**
 * Tries the usual causes one by one, with bounded work and output. `unreadable` are secrets that the scheme
 * cannot read; they are tried as well. `now` is in milliseconds since the epoch.
 */
export function explain(
  delivery: Delivery,
  { scheme, keys }: Verifier,
  now: number,
  unreadable: readonly Key[] = [],
): Explanation {
  const verification = scheme.authenticate(delivery, keys);
  const isLate = verification.ok && !checkTimestamp(verification, scheme.toleranceMs, now).ok;
  if (verification.ok && !isLate) return { sentence: undefined, isMatch: false, fix: undefined, tried: 0 };
  const secrets = [...keys, ...unreadable].map(({ secret }) => secret);
  const originals = secrets.map((secret) => secret.reveal());
  let tried = 0;
  for (const { sentence, body, ...change } of verification.ok
    ? timeUnits(scheme)
    : causes(delivery, scheme)) {
    const { secret: secretChange } = change;
    const texts = secretChange === undefined ? originals : originals.map((text) => secretChange.apply(text));
    if (secretChange !== undefined && texts.every((text, i) => text === originals[i])) continue;
    tried += 1;
    const candidate = schemeFor(change.scheme, scheme);
    if (candidate === undefined) continue;
    const isUnchanged = candidate === scheme && secretChange === undefined;
    const candidateKeys = isUnchanged ? keys : texts.flatMap((text) => keyFor(candidate, new Secret(text)));
    const outcome = candidate.authenticate({ ...delivery, body: body ?? delivery.body }, candidateKeys);
    if (!outcome.ok || (verification.ok && !isPlausible(outcome.timestamp))) continue;
    const isInTime = checkTimestamp(outcome, candidate.toleranceMs, now).ok;
    const signedAt = isInTime ? undefined : outcome.timestamp;
    const hasFix = body === undefined && (isInTime || isPlausible(signedAt));
    const fix = hasFix ? { currentScheme: scheme.name, ...change, signedAt } : undefined;
    return { sentence, isMatch: true, fix, tried };
  }
  if (!verification.ok) {
    return { sentence: withoutMatch(delivery, scheme, verification), isMatch: false, fix: undefined, tried };
  }
  const { timestamp } = verification;
  return {
    sentence:
      timestamp !== undefined && timestamp > now
        ? 'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.'
        : 'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.',
    isMatch: true,
    fix: isPlausible(timestamp) ? { currentScheme: scheme.name, signedAt: timestamp } : undefined,
    tried,
  };
}

function schemeFor(definition: SchemeJson | undefined, scheme: Scheme): Scheme | undefined {
  if (definition === undefined) return scheme;
  try {
    const { name, options } = readSchemeDefinition(JSON.parse(JSON.stringify(definition)) as unknown);
    if (name === scheme.name && scheme.recipe !== undefined && options.publicUrl !== undefined)
      return withPublicUrl(scheme, options.publicUrl);
    return schemeNamed(name, options);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function keyFor(scheme: Scheme, secret: Secret): readonly Key[] {
  try {
    return [scheme.key(secret)];
  } catch (error) {
    if (error instanceof ConfigError) return [];
    throw error;
  }
}

/** The smallest changes are tried first. */
function* causes(delivery: Delivery, scheme: Scheme): Generator<Cause> {
  for (const { text, bytes } of scheme.ignoresBody === true ? [] : bodyForms(delivery.body)) {
    const sentence = `The signature was made over ${text}, not over the bytes that came: sign what is sent, or look for what changed it on its way.`;
    yield { sentence, body: bytes };
  }
  for (const secret of secretChanges) {
    yield { sentence: `It matches with the secret ${secret.text}: the sender uses it so.`, secret };
  }
  yield* otherUrls(delivery, scheme);
  yield* otherTokens(delivery, scheme);
  yield* otherSchemes(delivery, scheme);
  yield* otherRecipes(delivery, scheme);
}

/** A proxy that ends TLS, or forwards under another host, changes the URL that is signed. */
function* otherUrls(delivery: Delivery, { name, signsUrl }: Scheme): Generator<Cause> {
  if (!signsUrl || !URL.canParse(delivery.url)) return;
  const headers = ['x-forwarded-host', 'x-original-host', 'host'];
  const hosts = headers.flatMap((header) =>
    delivery.rawHeaders.flatMap(([key, value]) => (key.toLowerCase() === header ? [value] : [])),
  );
  for (const host of [...hosts.slice(0, 4), new URL(delivery.url).host]) {
    if (!/^[\w.:[\]-]{1,253}$/.test(host)) continue;
    for (const protocol of ['https', 'http']) {
      const publicUrl = `${protocol}://${host}${delivery.path.replace(/[?#].*$/, '')}`;
      const sentence = `The signature was made for ${publicUrl}, but the delivery came to ${delivery.url}: something in front changed it.`;
      yield { sentence, scheme: { scheme: name, publicUrl } };
    }
  }
}

/** Bounds the work, which a sender must not decide. */
const mostHeaders = 20;

/** The sender may have sent the secret itself, alone or after a word, in any header. */
function* otherTokens(delivery: Delivery, { name, credentialHeaders }: Scheme): Generator<Cause> {
  for (const [header, value] of delivery.rawHeaders.slice(0, mostHeaders)) {
    const tokenHeader = header.toLowerCase();
    const place = (suffix: string): string =>
      name === 'token'
        ? `The right token came in the header ${tokenHeader}${suffix}, not by itself in ${credentialHeaders[0] ?? ''}.`
        : `The secret itself came in the header ${tokenHeader}${suffix}: it was sent as a token, and nothing was signed with it.`;
    const scheme = { scheme: 'token', tokenHeader };
    yield { sentence: place(''), scheme };
    const [word] = /^[A-Za-z]{1,20} +/.exec(value) ?? [];
    if (word === undefined) continue;
    yield { sentence: place(" behind a word such as 'Bearer'"), scheme, secret: prefixChange(word) };
  }
}

const prefixChange = (word: string): SecretChange => ({
  text: `behind '${word}'`,
  apply: (secret) => word + secret,
  shell: `"${word}$SECRET"`,
});

function* otherSchemes(delivery: Delivery, { name: schemeName }: Scheme): Generator<Cause> {
  const sent = new Set(delivery.rawHeaders.map(([header]) => header.toLowerCase()));
  for (const { name, signatureHeader, otherNames = [] } of presets) {
    const headers = [signatureHeader, ...otherNames.map((names) => names.signatureHeader)];
    if (name === schemeName || !headers.some((header) => sent.has(header))) continue;
    const sentence = `It matches under the scheme '${name}', and the scheme here is '${schemeName}'.`;
    yield { sentence, scheme: { scheme: name } };
  }
  for (const [header] of delivery.rawHeaders.slice(0, mostHeaders)) {
    const headerPrefix = /^(.{1,60})-signature$/i.exec(header)?.[1]?.toLowerCase();
    if (headerPrefix === undefined) continue;
    const sentence = `It matches under the scheme 'standard-webhooks' with its headers named ${headerPrefix}-….`;
    yield { sentence, scheme: { scheme: 'standard-webhooks', headerPrefix } };
  }
}

function definitionOf(scheme: Scheme): CustomOptions & SchemeJson {
  const { recipe } = scheme;
  if (recipe === undefined) return {};
  const { signatureHeader, algorithm, encoding, prefix, separator, content, secretEncoding } = recipe;
  const { timestampHeader, timestampPrefix, timestampFormat, nonceHeader } = recipe;
  const usualContent =
    timestampHeader === undefined && timestampPrefix === undefined ? '{body}' : '{timestamp}.{body}';
  return {
    ...{ signatureHeader, algorithm, encoding, separator, prefix: prefix === '' ? undefined : prefix },
    signedContent: content === usualContent ? undefined : content.replaceAll('\n', '\\n'),
    ...{ timestampHeader, timestampPrefix, timestampFormat, nonceHeader, secretEncoding },
  };
}

function* timeUnits(scheme: Scheme): Generator<Cause> {
  const usedFormat = scheme.recipe?.timestampFormat ?? 'unix';
  const nameOf = (unit: string): string => (unit === 'unix' ? 'seconds' : unit);
  for (const timestampFormat of scheme.recipe === undefined ? [] : timestampFormats) {
    if (timestampFormat === usedFormat) continue;
    const owner = scheme.name === 'custom' ? '' : `: ${scheme.name} signs another unit`;
    const sentence = `The signature matches; its time is in ${nameOf(timestampFormat)} and was read as ${nameOf(usedFormat)}${owner}.`;
    const isUsual = timestampFormat === 'unix';
    yield {
      sentence,
      scheme: { ...definitionOf(scheme), timestampFormat: isUsual ? undefined : timestampFormat },
    };
  }
}

function* otherRecipes(delivery: Delivery, scheme: Scheme): Generator<Cause> {
  yield* timeUnits(scheme);
  const definition = definitionOf(scheme);
  const recipes = candidateSignatures(delivery).flatMap((candidate) => {
    const { header, prefix, encoding, separator, algorithms } = candidate;
    const [algorithm] = algorithms.includes('hmac-sha256') ? [undefined] : algorithms;
    if (prefix === undefined) return [];
    return [
      {
        signatureHeader: header,
        prefix,
        encoding,
        separator: definition.timestampPrefix === undefined ? separator : definition.separator,
        algorithm,
      },
    ];
  });
  for (const recipe of [...(definition.signatureHeader === undefined ? [] : [definition]), ...recipes]) {
    for (const secretEncoding of ['utf8', 'base64', 'hex', 'whsec'] as const) {
      const decoded =
        secretEncoding === 'utf8'
          ? 'taken as text'
          : `decoded from ${secretEncoding === 'hex' ? 'hex' : 'base64'}`;
      const afterPrefix =
        recipe.prefix === undefined || recipe.prefix === '' ? '' : ` behind '${recipe.prefix}'`;
      const place = `The header ${recipe.signatureHeader ?? ''} holds a matching ${recipe.algorithm ?? 'hmac-sha256'} in ${recipe.encoding === 'hex-upper' ? 'capital letters' : (recipe.encoding ?? 'hex')}${afterPrefix}`;
      const isHex = recipe.encoding === 'hex';
      yield {
        sentence: `${place}, with the secret ${decoded}.`,
        scheme: {
          ...definition,
          ...recipe,
          encoding: isHex ? undefined : recipe.encoding,
          prefix: recipe.prefix === '' ? undefined : recipe.prefix,
          secretEncoding: secretEncoding === 'utf8' ? undefined : secretEncoding,
        },
      };
    }
  }
}

function withoutMatch(delivery: Delivery, scheme: Scheme, verification: Verification): string {
  const headerOf = (name: string): string => schemeNamed(name).credentialHeaders[0] ?? '';
  const names = delivery.rawHeaders.map(([name]) => name.toLowerCase());
  const similar = schemeNames.filter(
    (name) => name !== 'custom' && name !== scheme.name && names.includes(headerOf(name)),
  );
  const { name: schemeName, credentialHeaders: headers } = scheme;
  // Two vendors may share a header, as GitHub and Meta do; then it is no sign of another scheme.
  if (similar.length > 0 && !similar.some((name) => headerOf(name) === headers[0])) {
    return `It carries the header of the scheme '${similar.join("' and '")}', but does not match with this secret; the scheme here is '${schemeName}'.`;
  }
  return !verification.ok && verification.reason === 'missing_credential'
    ? `No header holds anything that matches; the scheme '${schemeName}' reads ${headers.join(', ')}.`
    : 'No known scheme, encoding or form of the body matches: the sender has another secret (of the test or the live mode?), or the body was changed on its way.';
}

import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import type { Delivery } from '../delivery.ts';
import type { Rejection } from '../delivery-answer.ts';
import { schemeNames } from '../vendor-presets.ts';
import type { Authentic, Key, Scheme, Verifier } from '../scheme.ts';
import { readSchemeDefinition, schemeNamed, withPublicUrl } from '../scheme-registry.ts';
import { checkTimestamp, isPlausible } from '../timestamp.ts';
import {
  type Cause,
  otherTimeFormats,
  possibleCauses,
  type SchemeJson,
  type SecretChange,
} from './causes.ts';

/** The settings under which the delivery verifies; those that are absent stay as they are. */
export interface Fix {
  readonly currentScheme: string;
  readonly scheme?: SchemeJson | undefined;
  readonly secret?: SecretChange | undefined;
  /** In milliseconds since the epoch, where this capture verifies only at that time. */
  readonly signedAt?: number | undefined;
}

/**
 * `sentence` is undefined for a delivery that verifies. `isMatch` says whether a secret made the signature, in
 * whatever way, and `tried` counts the causes that were tried.
 */
export interface Explanation {
  readonly sentence: string | undefined;
  readonly isMatch: boolean;
  readonly fix: Fix | undefined;
  readonly tried: number;
}

/**
 * Repeats the check of a delivery that does not verify, each time with one change, until it verifies: then that change
 * is the cause. The work and the output are bounded. `unreadable` are secrets that the scheme cannot read; they are
 * tried as well. `now` is in milliseconds since the epoch.
 */
export function explain(
  delivery: Delivery,
  verifier: Verifier,
  now: number,
  unreadable: readonly Key[] = [],
): Explanation {
  const { scheme, keys } = verifier;
  const verification = scheme.authenticate(delivery, keys);
  if (verification.ok && checkTimestamp(verification, scheme.toleranceMs, now).ok) {
    return { sentence: undefined, isMatch: false, fix: undefined, tried: 0 };
  }
  const secrets = [...keys, ...unreadable].map(({ secret }) => secret.reveal());
  const causes = verification.ok ? otherTimeFormats(scheme) : possibleCauses(delivery, scheme);
  let tried = 0;
  for (const cause of causes) {
    const { secret: change } = cause;
    const changedSecrets = change === undefined ? secrets : secrets.map((secret) => change.apply(secret));
    const isChanged = changedSecrets.some((secret, i) => secret !== secrets[i]);
    if (change !== undefined && !isChanged) continue;
    tried += 1;
    const match = authenticateWith(cause, delivery, verifier, changedSecrets);
    if (match === undefined) continue;
    // The signature may match already: then another format of its time is the cause only if the time makes sense in it.
    if (verification.ok && !isPlausible(match.timestamp)) continue;
    return { sentence: cause.sentence, isMatch: true, fix: fixOf(cause, match, scheme.name, now), tried };
  }
  if (verification.ok) return { ...explainWrongTime(verification.timestamp, scheme, now), tried };
  const sentence = noMatchSentence(delivery, scheme, verification);
  return { sentence, isMatch: false, fix: undefined, tried };
}

interface Match extends Pick<Authentic, 'timestamp'> {
  readonly toleranceMs: number | undefined;
}

/** Undefined where the delivery does not verify with the change of this cause. */
function authenticateWith(
  cause: Cause,
  delivery: Delivery,
  { scheme, keys }: Verifier,
  secrets: readonly string[],
): Match | undefined {
  const candidate = schemeFor(cause.scheme, scheme);
  if (candidate === undefined) return undefined;
  const isBodyAlone = candidate === scheme && cause.secret === undefined;
  const keyOf = (text: string): Key | undefined => unlessUnusable(() => candidate.key(new Secret(text)));
  const candidateKeys = isBodyAlone ? keys : secrets.flatMap((text) => keyOf(text) ?? []);
  const outcome = candidate.authenticate({ ...delivery, body: cause.body ?? delivery.body }, candidateKeys);
  return outcome.ok ? { timestamp: outcome.timestamp, toleranceMs: candidate.toleranceMs } : undefined;
}

function schemeFor(definition: SchemeJson | undefined, scheme: Scheme): Scheme | undefined {
  if (definition === undefined) return scheme;
  return unlessUnusable(() => {
    const { name, options } = readSchemeDefinition(JSON.parse(JSON.stringify(definition)) as unknown);
    const changesUrlAlone =
      name === scheme.name && scheme.recipe !== undefined && options.publicUrl !== undefined;
    // The other options of the scheme would be lost if it were made again by its name.
    return changesUrlAlone ? withPublicUrl(scheme, options.publicUrl) : schemeNamed(name, options);
  });
}

/** Undefined for a definition that no scheme can have, and for a secret that the scheme cannot read. */
function unlessUnusable<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

/** Undefined where no setting of a receiver makes the delivery verify. */
function fixOf(cause: Cause, match: Match, currentScheme: string, now: number): Fix | undefined {
  const { scheme, secret, body } = cause;
  const isInTime = checkTimestamp(match, match.toleranceMs, now).ok;
  const signedAt = isInTime ? undefined : match.timestamp;
  const canVerify = isInTime || isPlausible(signedAt);
  return body === undefined && canVerify ? { currentScheme, scheme, secret, signedAt } : undefined;
}

/** Explains a signature that matches at a time that is too far from now. */
function explainWrongTime(
  timestamp: number | undefined,
  { name: currentScheme }: Scheme,
  now: number,
): Omit<Explanation, 'tried'> {
  const sentence =
    timestamp !== undefined && timestamp > now
      ? 'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.'
      : 'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.';
  const fix = isPlausible(timestamp) ? { currentScheme, signedAt: timestamp } : undefined;
  return { sentence, isMatch: true, fix };
}

function noMatchSentence(delivery: Delivery, scheme: Scheme, { reason }: Rejection): string {
  const { name: schemeName, credentialHeaders } = scheme;
  const headerOf = (name: string): string => schemeNamed(name).credentialHeaders[0] ?? '';
  const sent = delivery.rawHeaders.map(([name]) => name.toLowerCase());
  const sentSchemes = schemeNames.filter(
    (name) => name !== 'custom' && name !== schemeName && sent.includes(headerOf(name)),
  );
  // Two vendors may share a header, as GitHub and Meta do; then it is no sign of another scheme.
  const sharesHeader = sentSchemes.some((name) => headerOf(name) === credentialHeaders[0]);
  if (sentSchemes.length > 0 && !sharesHeader) {
    return `It carries the header of the scheme '${sentSchemes.join("' and '")}', but does not match with this secret; the scheme here is '${schemeName}'.`;
  }
  return reason === 'missing_credential'
    ? `No header holds anything that matches; the scheme '${schemeName}' reads ${credentialHeaders.join(', ')}.`
    : 'No known scheme, encoding or form of the body matches: the sender has another secret (of the test or the live mode?), or the body was changed on its way.';
}

import { ConfigError } from '../../errors.ts';
import { Secret } from '../../secret.ts';
import type { TimestampFormat } from '../scheme-options.ts';
import type { Delivery } from '../delivery.ts';
import { schemeNames } from '../presets.ts';
import { schemeNamed } from '../scheme-registry.ts';
import { withPublicUrl } from '../schemes/public-url.ts';
import type { Authentic, Key, Scheme, Verification, Verifier } from '../scheme.ts';
import { checkTimestamp, isPlausible } from '../timestamp.ts';
import { bodyForms } from './body-forms.ts';
import { explainToken } from './explain-token.ts';
import { explainChangedDelivery, explainOtherScheme, explainSecretForm, keyFor } from './explain-variants.ts';
import { type Finding, Search, type SecretChange } from './finding.ts';
import { customFix, searchSignature } from './search-signature.ts';
import { keyForms, secretForms } from './secret-forms.ts';

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
    what: {
      kind: 'custom-match',
      header: signature.header,
      algorithm,
      encoding: signature.encoding,
      content,
      timestamp: timestamp && { header: timestamp.header, prefix: timestamp.prefix, signedAs: timeUnit },
      idHeader: id?.header,
      secret: key.secret,
      body,
    },
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
    return { what: { kind: 'similar-header', schemes: similar, here } };
  }
  const isAbsent = !verification.ok && verification.reason === 'missing_credential';
  return { what: isAbsent ? { kind: 'no-credential', scheme: here, headers } : { kind: 'nothing-matches' } };
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
  const { timestamp, expires } = authentic;
  if (timestamp === undefined || checkTimestamp(authentic, scheme.toleranceMs, now).ok) return undefined;
  const inUnit = (unit: TimestampFormat, read: TimestampFormat): Finding => {
    const here = scheme.name;
    const match = searchSignature(delivery, keyForms(keys), search);
    const what = { kind: 'time-unit', unit, read, scheme: here === 'custom' ? undefined : here } as const;
    return { what, fix: match && customFix(match, here) };
  };
  if (!isPlausible(timestamp) && isPlausible(timestamp / 1000)) return inUnit('milliseconds', 'unix');
  if (!isPlausible(timestamp) && isPlausible(timestamp * 1000)) return inUnit('unix', 'milliseconds');
  return {
    what: { kind: timestamp > now ? 'time-ahead' : 'time-past' },
    // Behind all years that can be written down no `--at` names it.
    captureFix:
      (expires !== undefined && now >= expires) || timestamp > lastTime ? undefined : { signedAt: timestamp },
  };
}

const lastTime = Date.UTC(9999, 11, 31);

import type { TimestampFormat } from '../scheme-options.ts';
import type { Delivery } from '../delivery.ts';
import { schemeNames } from '../presets.ts';
import { schemeNamed } from '../scheme-registry.ts';
import type { Authentic, Key, Scheme, Verification, Verifier } from '../scheme.ts';
import { checkTimestamp } from '../timestamp.ts';
import { customFlags, isPlausible } from './custom-flags.ts';
import { explainToken } from './explain-token.ts';
import {
  bodyFlag,
  changedBody,
  explainChangedDelivery,
  explainOtherScheme,
  explainSecretForm,
} from './explain-variants.ts';
import { type Finding, Search } from './finding.ts';
import { searchSignature, type SignatureMatch } from './search-signature.ts';
import { keyForms } from './secret-forms.ts';

/** What a rejected delivery would have matched, and how many combinations were tried. */
export interface Explanation {
  /** Undefined for a delivery that verifies. */
  readonly finding: Finding | undefined;
  /** False: nothing matches, and the finding says what can be said then. */
  readonly isMatch: boolean;
  readonly tried: number;
}

/**
 * The sentences of `explain` for the operator of a receiver. Nothing is accepted because of them. `now` in milliseconds.
 */
export function explainDelivery(delivery: Delivery, verifier: Verifier, now: number): readonly string[] {
  const { finding } = explain(delivery, verifier, now);
  if (finding === undefined) return [];
  const { what, flags, captureFlags } = finding;
  return flags === undefined || captureFlags !== undefined
    ? [what]
    : [what, `To take such deliveries: ${flags}`];
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
    return { finding, isMatch: finding !== undefined, tried: search.tried };
  }
  const match = findMatch(delivery, verifier, [...keys, ...unreadable], search);
  const finding = match ?? explainNoMatch(delivery, scheme, verification);
  return { finding, isMatch: match !== undefined, tried: search.tried };
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
  return match && describeMatch(match, scheme);
}

function describeMatch(match: SignatureMatch, scheme: Scheme): Finding {
  const { signature, algorithm, key, content, timestamp, id, body, timeUnit } = match;
  const encoding = signature.encoding === 'hex-upper' ? 'upper-case hex' : signature.encoding;
  const inside = timestamp?.prefix === undefined ? '' : `${timestamp.prefix}… in `;
  const unit = timeUnit === undefined ? '' : ` written as ${timeUnit === 'unix' ? 'seconds' : timeUnit}`;
  const where = [
    ...(timestamp === undefined ? [] : [`{timestamp} from ${inside}${timestamp.header}${unit}`]),
    ...(id === undefined ? [] : [`{id} from ${id.header}`]),
  ];
  const found = `The header ${signature.header} holds a matching ${algorithm} in ${encoding}, made over '${content.replaceAll('\n', '\\n')}'${where.length === 0 ? '' : ` (${where.join(', ')})`} with the secret ${key.what}.`;
  return {
    what: body === undefined ? found : `${found} ${changedBody(body)}`,
    flags: customFlags(match, scheme.name),
    captureFlags: body && bodyFlag(body),
  };
}

/** Nothing matches: says at least which scheme the headers look like. */
function explainNoMatch(delivery: Delivery, scheme: Scheme, verification: Verification): Finding {
  const names = delivery.rawHeaders.map(([name]) => name.toLowerCase());
  const similar = schemeNames
    .filter((name) => name !== 'custom' && name !== scheme.name)
    .filter((name) => names.includes(schemeNamed(name).credentialHeaders[0] ?? ''));
  if (similar.length > 0 && !similar.some((name) => sharesHeader(name, scheme))) {
    return {
      what: `It carries the header of the scheme '${similar.join("' and '")}', but does not match with this secret; the scheme here is '${scheme.name}'.`,
    };
  }
  if (!verification.ok && verification.reason === 'missing_credential') {
    return {
      what: `No header holds anything that matches; the scheme '${scheme.name}' reads ${scheme.credentialHeaders.join(', ')}.`,
    };
  }
  return {
    what: 'No known scheme, encoding or form of the body matches: the sender has another secret, or the body was changed on its way.',
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
  const { timestamp, expires } = authentic;
  if (timestamp === undefined || checkTimestamp(authentic, scheme.toleranceMs, now).ok) return undefined;
  const inUnit = (read: string, format: TimestampFormat): Finding => {
    const unit = format === 'unix' ? 'seconds' : format;
    const what = `The signature matches; its time is in ${unit} and was read as ${read}`;
    if (scheme.name === 'custom') return { what: `${what}.`, flags: `--timestamp-format ${format}` };
    const match = searchSignature(delivery, keyForms(keys), search);
    return {
      what: `${what}: ${scheme.name} signs another unit.`,
      flags: match && customFlags(match, scheme.name),
    };
  };
  if (!isPlausible(timestamp) && isPlausible(timestamp / 1000)) return inUnit('seconds', 'milliseconds');
  if (!isPlausible(timestamp) && isPlausible(timestamp * 1000)) return inUnit('milliseconds', 'unix');
  const captureFlags =
    expires !== undefined && now >= expires
      ? undefined
      : `--tolerance ${toleranceFor(Math.abs(now - timestamp))}`;
  if (timestamp > now) {
    return {
      what: 'The signature matches; only its time is ahead: compare the clocks of the sender and of this machine.',
      captureFlags,
    };
  }
  return {
    what: 'The signature matches; only its time is too old: a delivery sent again as it was, a slow queue, or clocks that differ.',
    captureFlags,
  };
}

/** A duration that still covers an age a minute later, in the largest unit that fits. */
function toleranceFor(ageMs: number): string {
  const [name, size] = units.find(([, least]) => ageMs >= 2 * least) ?? (['s', 1000] as const);
  return `${Math.ceil((ageMs + 60_000) / size)}${name}`;
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
] as const;

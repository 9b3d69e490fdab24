import { type ConfigError, describe } from '../../errors.ts';
import { fixFlags } from '../../output/explanation.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { Rejection } from '../../webhook/delivery-answer.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { explain, type Explanation } from '../../webhook/explain/explain-delivery.ts';
import type { Authentic, Key, Scheme, Verifier } from '../../webhook/scheme.ts';
import { checkTimestamp, isPlausible } from '../../webhook/timestamp.ts';
import type { Check, Report } from './report.ts';

/** The part of the report that is about the delivery itself, and not about its capture. */
export type Verdict = Omit<Report, 'form' | 'at' | 'notes' | 'scheme'>;

export interface ReadSecrets extends Verifier {
  /** The keys are for the search alone: nothing is verified with them. */
  readonly unreadable: readonly { readonly key: Key; readonly error: ConfigError }[];
}

export interface CheckTimes {
  readonly now: number;
  /** The time that was asked for. */
  readonly chosen: number | undefined;
  readonly captured: number | undefined;
}

export const checkedAt = ({ now, chosen, captured }: CheckTimes): number => chosen ?? captured ?? now;

export const nothingToExplain = { wouldMatch: null, explanation: null, tried: 0 };

/**
 * Whether a delivery is genuine, check by check, as `listen` would check it, and the cause where it is not. Throws the
 * `ConfigError` of a secret that the scheme cannot read, where the search does not show how it is meant.
 */
export function examine(
  delivery: Delivery,
  secrets: ReadSecrets,
  times: CheckTimes,
  platform: string,
): Verdict {
  const { scheme, keys, unreadable } = secrets;
  const verification = scheme.authenticate(delivery, keys);
  const checks = verification.ok
    ? checksOfMatch(verification, secrets, times)
    : checksOfRejection(verification, secrets);
  if (checks.every(({ name, ok }) => ok === true || name === 'now'))
    return { ok: true, reason: null, checks, ...nothingToExplain };
  const searchKeys = unreadable.map(({ key }) => key);
  const explanation = explain(delivery, { scheme, keys }, checkedAt(times), searchKeys);
  const [first] = unreadable;
  if (first !== undefined && keys.length === 0 && !explanation.isMatch) throw first.error;
  const fault = verification.ok
    ? checkTimestamp(verification, scheme.toleranceMs, checkedAt(times))
    : verification;
  return { ok: false, reason: fault.ok ? null : fault.reason, checks, ...explained(explanation, platform) };
}

/** The name of the check of the credential itself. */
export const credentialCheck = ({ name }: Scheme): 'token' | 'signature' =>
  name === 'token' ? 'token' : 'signature';

const headerCheck = ({ credentialHeaders }: Scheme): Check => ({
  name: 'header',
  ok: true,
  detail: `${credentialHeaders[0] ?? ''} came once and can be read`,
});

function checksOfMatch(
  { key, timestamp }: Authentic,
  { scheme, keys }: ReadSecrets,
  times: CheckTimes,
): readonly Check[] {
  const old = key > 0 ? ': an old one, or one that the sender does not use yet' : '';
  const which = keys.length === 1 ? '' : ` with secret ${key + 1} of ${keys.length}${old}`;
  return [
    headerCheck(scheme),
    { name: credentialCheck(scheme), ok: true, detail: `matches${which}` },
    ...timeChecks(timestamp, scheme, times),
  ];
}

function checksOfRejection(
  { reason, detail }: Rejection,
  { scheme, keys, unreadable }: ReadSecrets,
): readonly Check[] {
  const checks = unreadable.map(({ error }): Check => ({
    name: 'secret',
    ok: false,
    detail: describe(error).message,
  }));
  if (reason !== 'wrong_credential') return [...checks, { name: 'header', ok: false, detail }];
  checks.push(headerCheck(scheme));
  return keys.length === 0 ? checks : [...checks, { name: credentialCheck(scheme), ok: false, detail }];
}

function explained(
  { sentence, isMatch, fix, tried }: Explanation,
  platform: string,
): Pick<Report, 'wouldMatch' | 'explanation' | 'tried'> {
  if (sentence === undefined || !isMatch) return { wouldMatch: null, explanation: sentence ?? null, tried };
  const flags = fix === undefined ? undefined : fixFlags(fix, platform);
  const words = `${flags?.receiver ?? ''} ${flags?.capture ?? ''}`.trim();
  return { wouldMatch: { what: sentence, fix: words === '' ? null : words }, explanation: null, tried };
}

/**
 * Tells whether the signed time was near enough when the delivery came. Where nothing says when that was, a delivery that is
 * too old by now is genuine all the same; so is one that was in time then.
 */
function timeChecks(
  timestamp: number | undefined,
  { toleranceMs }: Scheme,
  times: CheckTimes,
): readonly Check[] {
  if (timestamp === undefined || toleranceMs === undefined) return [];
  const { now, chosen, captured } = times;
  const receivedAt = chosen ?? captured;
  const then = checkTimestamp({ timestamp }, toleranceMs, receivedAt ?? now);
  const today = checkTimestamp({ timestamp }, toleranceMs, now);
  const staleToday = (hint: string): Check[] =>
    today.ok ? [] : [{ name: 'now', ok: false, detail: `stale by now: ${today.detail}${hint}` }];
  if (then.ok)
    return [{ name: 'time', ok: true, detail: ageText(timestamp, toleranceMs, times) }, ...staleToday('')];
  if (receivedAt !== undefined) {
    const detail = `at ${new Date(receivedAt).toISOString()}, ${then.detail}`;
    return [{ name: 'time', ok: false, detail }];
  }
  if (then.reason === 'stale_timestamp' && isPlausible(timestamp))
    return staleToday('; give the time at which it was received with --at');
  return [{ name: 'time', ok: false, detail: then.detail }];
}

function ageText(timestamp: number, toleranceMs: number, times: CheckTimes): string {
  const ageMs = checkedAt(times) - timestamp;
  const tolerated = formatDuration(toleranceMs).replace(/ 0[smh]$/, '');
  const age = `${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'after' : 'before'} ${momentText(times)}`;
  return `signed ${age}; ${tolerated} is tolerated`;
}

function momentText({ chosen, captured }: CheckTimes): string {
  if (chosen !== undefined) return 'the time asked for';
  return captured === undefined ? 'now' : 'it was captured';
}

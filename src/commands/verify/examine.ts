import type { Capture } from '../../capture/capture.ts';
import { explanationText } from '../../messages/explanations.ts';
import { formatDuration } from '../../time/time-text.ts';
import { describe } from '../../messages/command-line.ts';
import { checkDelivery } from '../../webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../../webhook/delivery.ts';
import { explain, type Explanation } from '../../webhook/explain/explain-delivery.ts';
import type { RejectReason } from '../../webhook/rejection.ts';
import type { Authentic, Key, Scheme, Verification } from '../../webhook/scheme.ts';
import { checkTimestamp, isPlausible } from '../../webhook/timestamp.ts';
import type { LeadPlace } from '../flags/lead-at.ts';
import type { Check, Report } from './report.ts';
import type { ReadSecrets } from './scheme-secrets.ts';

type Verdict = Omit<Report, 'form' | 'at' | 'notes' | 'scheme' | 'base'>;

/**
 * Whether a delivery is genuine, check by check, as `listen` would check it, and what it would match where it is not.
 * Throws the `ConfigError` of secrets that the scheme cannot read, where the search does not show how they are meant.
 */
export function examine(
  delivery: Delivery,
  { scheme, keys, unreadable }: ReadSecrets,
  times: CheckTimes,
  platform: string,
): Verdict {
  const at = times.asked ?? times.captured ?? times.now;
  const verification = scheme.authenticate(delivery, keys);
  const credential = credentialChecks(verification, scheme, keys);
  const [first] = unreadable;
  if (!verification.ok) {
    const others = unreadable.map(({ key }) => key);
    const explanation = explain(delivery, { scheme, keys }, at, others);
    if (first !== undefined && keys.length === 0 && !explanation.isMatch) throw first.error;
    const checks = [...unreadable.map(secretCheck), ...credential];
    return { ok: false, reason: verification.reason, checks, ...explained(explanation, times, platform) };
  }
  const { checks, late } = timeChecks(verification, scheme, times);
  const all = [...credential, ...checks];
  if (late === undefined) return { ok: true, reason: null, checks: all, ...nothingToExplain };
  const explanation = explain(delivery, { scheme, keys }, at);
  return { ok: false, reason: late, checks: all, ...explained(explanation, times, platform) };
}

const nothingToExplain = { wouldMatch: null, explanation: null, tried: 0 };

function explained(
  { finding, isMatch, tried, proof }: Explanation,
  times: CheckTimes,
  platform: string,
): Pick<Report, 'wouldMatch' | 'explanation' | 'tried'> {
  if (finding === undefined) return { ...nothingToExplain, tried };
  // What would match may be out of time besides.
  const { timestamp } = proof?.authentic ?? {};
  const isLate = proof !== undefined && timeChecks(proof.authentic, proof, times).late !== undefined;
  const signedAt = isLate && isPlausible(timestamp) ? timestamp : finding.captureFix?.signedAt;
  const fix = isLate && signedAt === undefined ? undefined : finding.fix;
  const captureFix = { ...finding.captureFix, signedAt };
  const text = explanationText({ what: finding.what, fix, captureFix }, platform);
  const { what, flags, captureFlags, schemeFile, environment } = text;
  if (!isMatch) return { wouldMatch: null, explanation: what, tried };
  const words = [flags, captureFlags].filter((part) => part !== undefined && part !== '').join(' ');
  return { wouldMatch: { what, fix: words || null, schemeFile, environment }, explanation: null, tried };
}

const secretCheck = ({ error }: ReadSecrets['unreadable'][number]): Check => ({
  name: 'secret',
  ok: false,
  detail: describe(error).message,
});

/** Where the credential was looked for, and whether it matches. */
function credentialChecks(
  verification: Verification,
  scheme: Scheme,
  keys: readonly Key[],
): readonly Check[] {
  const name = scheme.name === 'token' ? 'token' : 'signature';
  const header = scheme.credentialHeaders.slice(0, scheme.name === 'rfc9421' ? 2 : 1).join(' and ');
  const present: Check = { name: 'header', ok: true, detail: `${header} came once and can be read` };
  if (verification.ok) return [present, { name, ok: true, detail: matchDetail(verification, keys) }];
  const { reason, detail } = verification;
  if (reason !== 'wrong_credential') return [{ name: 'header', ok: false, detail }];
  return keys.length === 0 ? [present] : [present, { name, ok: false, detail }];
}

function matchDetail({ key }: Authentic, keys: readonly Key[]): string {
  if (keys.length === 1) return 'matches';
  const old = key > 0 ? ': an old one, or one that the sender does not use yet' : '';
  return `matches with secret ${key + 1} of ${keys.length}${old}`;
}

/** The headers of the scheme whose values the capture does not hold. */
export const withheldHeaders = (capture: Capture, { credentialHeaders }: Scheme): readonly string[] =>
  credentialHeaders.filter((name) => capture.withheld?.includes(name) === true || isRedacted(capture, name));

const isRedacted = (capture: Pick<Delivery, 'rawHeaders'>, name: string): boolean =>
  headerValues(capture, name).some((value) => value.includes('[redacted]'));

/** What can be said of a delivery whose credential is not in the capture: that it came with one, and no more. */
export function withoutCredential(delivery: Delivery, scheme: Scheme, names: readonly string[]): Verdict {
  const why = names.some((name) => isRedacted(delivery, name))
    ? 'was redacted when it was stored'
    : 'is not in the capture, only the name of the variable that held it';
  const checks: readonly Check[] = [
    { name: 'header', ok: true, detail: `${names.join(' and ')} came` },
    {
      name: scheme.name === 'token' ? 'token' : 'signature',
      ok: null,
      detail: `its value ${why}: nothing here shows who sent it`,
    },
  ];
  return { ok: null, reason: 'withheld_credential', checks, ...nothingToExplain };
}

/** Why `listen` would reject a delivery although it is genuine; undefined for one that it accepts. */
export function furtherRejection(
  delivery: Delivery,
  { scheme, keys }: ReadSecrets,
  { at, place }: { readonly at: number; readonly place: LeadPlace },
): string | undefined {
  // A capture of single `--header` flags may hold those of the credential alone.
  if (headerValues(delivery, 'content-type').length === 0) return undefined;
  const checked = checkDelivery(delivery, { path: undefined, scheme, keys, ...place }, at);
  if (checked.kind === 'leads' || checked.status === 401) return undefined;
  return `'leads listen' would still answer ${checked.status}: ${checked.detail}`;
}

/** When a delivery is checked for, in milliseconds since the epoch. */
interface CheckTimes {
  readonly now: number;
  /** `--at`. */
  readonly asked: number | undefined;
  /** The capture's own. */
  readonly captured: number | undefined;
}

interface TimeVerdict {
  readonly checks: readonly Check[];
  /** Why the time makes the delivery one that must be rejected; undefined where it does not. */
  readonly late: RejectReason | undefined;
}

/**
 * Whether the signed time was near enough when the delivery came. Where nothing says when that was, a delivery that is too
 * old by now is genuine nevertheless; so is one that was in time then.
 */
function timeChecks(
  authentic: Authentic,
  { toleranceMs }: Pick<Scheme, 'toleranceMs'>,
  { now, asked, captured }: CheckTimes,
): TimeVerdict {
  const { timestamp } = authentic;
  if (timestamp === undefined || toleranceMs === undefined) return { late: undefined, checks: [] };
  const at = asked ?? captured;
  const then = checkTimestamp(authentic, toleranceMs, at ?? now);
  const tolerated = `${formatDuration(toleranceMs).replace(/ 0[smh]$/, '')} is tolerated`;
  if (at === undefined && !then.ok && then.reason === 'stale_timestamp' && isPlausible(timestamp)) {
    const hint = 'give the time at which it was received with --at';
    return {
      late: undefined,
      checks: [{ name: 'now', ok: false, detail: `stale by now: ${then.detail}; ${hint}` }],
    };
  }
  const what =
    asked !== undefined ? 'the time asked for' : captured !== undefined ? 'it was captured' : 'now';
  if (!then.ok) {
    const detail = at === undefined ? then.detail : `at ${new Date(at).toISOString()}, ${then.detail}`;
    return { late: then.reason, checks: [{ name: 'time', ok: false, detail }] };
  }
  const ageMs = (at ?? now) - timestamp;
  const side = ageMs < 0 ? 'after' : 'before';
  const inTime: Check = {
    name: 'time',
    ok: true,
    detail: `signed ${formatDuration(Math.abs(ageMs))} ${side} ${what}; ${tolerated}`,
  };
  const today = checkTimestamp(authentic, toleranceMs, now);
  if (at === undefined || today.ok) return { late: undefined, checks: [inTime] };
  return {
    late: undefined,
    checks: [inTime, { name: 'now', ok: false, detail: `stale by now: ${today.detail}` }],
  };
}

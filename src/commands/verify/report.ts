import type { Context } from '../../context.ts';
import { type ConfigError, describe } from '../../errors.ts';
import { fixFlags } from '../../output/explanation.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { Rejection } from '../../webhook/delivery-answer.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { explain, type Explanation } from '../../webhook/explain/explain-delivery.ts';
import type { Authentic, Key, Scheme, Verifier } from '../../webhook/scheme.ts';
import { checkTimestamp, isPlausible } from '../../webhook/timestamp.ts';
import { write } from '../../output/stdout.ts';
import { besideMark, styleFor } from '../../output/report.ts';
import { counted } from '../../output/terminal/progress.ts';
import { asksForAscii, sanitize, terminalWidth, wrap } from '../../output/terminal/terminal.ts';
import { type Secret, withoutSecrets } from '../../secret.ts';

/** The part of the report that is about the delivery itself, and not about its capture. */
export type Verdict = Omit<Report, 'form' | 'at' | 'notes' | 'scheme'>;

export interface ReadSecrets extends Verifier {
  /** The keys are for the search alone: nothing is verified with them. */
  readonly unreadable: readonly { readonly key: Key; readonly error: ConfigError }[];
}

const nothingToExplain = { wouldMatch: null, explanation: null, tried: 0 };

/**
 * Whether a delivery is genuine, check by check, as `listen` would check it, and the cause where it is not. It is judged for the
 * time `cameAt` in milliseconds since the epoch, or for now where nothing says when it came. Throws the
 * `ConfigError` of a secret that the scheme cannot read, where the search does not show how it is meant.
 */
export function examine(
  delivery: Delivery,
  secrets: ReadSecrets,
  cameAt: number | undefined,
  context: Pick<Context, 'env' | 'platform' | 'clock'>,
): Verdict {
  const { scheme, keys, unreadable } = secrets;
  const { receivedAt } = delivery;
  const verification = scheme.authenticate(delivery, keys);
  const checks = verification.ok
    ? checksOfMatch(verification, secrets, cameAt, context.clock.now())
    : checksOfRejection(verification, secrets);
  const isGenuine = checks.every(({ name, ok }) => ok === true || name === 'now');
  if (isGenuine) return { ok: true, reason: null, checks, ...nothingToExplain };
  const searchKeys = unreadable.map(({ key }) => key);
  const explanation = explain(delivery, { scheme, keys }, receivedAt, searchKeys);
  const [firstUnreadable] = unreadable;
  const hasNoKey = firstUnreadable !== undefined && keys.length === 0;
  if (hasNoKey && !explanation.isMatch) throw firstUnreadable.error;
  const fault = verification.ok ? checkTimestamp(verification, scheme.toleranceMs, receivedAt) : verification;
  return { ok: false, reason: fault.ok ? null : fault.reason, checks, ...explained(explanation, context) };
}

const check = (name: Check['name'], ok: boolean | null, detail: string): Check => ({ name, ok, detail });

const headerCheck = ({ credentialHeaders }: Scheme): Check =>
  check('header', true, `${credentialHeaders[0] ?? ''} came once and can be read`);

const credentialCheck = ({ name }: Scheme, ok: boolean | null, detail: string): Check =>
  check(name === 'token' ? 'token' : 'signature', ok, detail);

function checksOfMatch(
  { key: index, timestamp }: Authentic,
  { scheme, keys }: ReadSecrets,
  cameAt: number | undefined,
  now: number,
): readonly Check[] {
  const remark = index > 0 ? ': an old one, or one that the sender does not use yet' : '';
  const which = keys.length === 1 ? '' : ` with secret ${index + 1} of ${keys.length}${remark}`;
  return [
    headerCheck(scheme),
    credentialCheck(scheme, true, `matches${which}`),
    ...timeChecks(timestamp, scheme, cameAt, now),
  ];
}

function checksOfRejection(
  { reason, detail }: Rejection,
  { scheme, keys, unreadable }: ReadSecrets,
): readonly Check[] {
  const secretChecks = unreadable.map(({ error }) => check('secret', false, describe(error).message));
  if (reason !== 'wrong_credential') return [...secretChecks, check('header', false, detail)];
  const comparison = keys.length === 0 ? [] : [credentialCheck(scheme, false, detail)];
  return [...secretChecks, headerCheck(scheme), ...comparison];
}

function explained(
  { sentence, isMatch, fix, tried }: Explanation,
  { env, platform }: Pick<Context, 'env' | 'platform'>,
): Pick<Report, 'wouldMatch' | 'explanation' | 'tried'> {
  if (sentence === undefined || !isMatch) return { wouldMatch: null, explanation: sentence ?? null, tried };
  const flags = fix === undefined ? undefined : fixFlags(fix, platform);
  const command = `${flags?.receiver ?? ''} ${flags?.capture ?? ''}`.trim();
  const [variable] = /LEADS_WEBHOOK_[A-Z]+/.exec(command) ?? [];
  const isMissing = variable !== undefined && !env[variable];
  const remark = isMissing ? ` The fix reads ${variable}, which is not set: put the secret there.` : '';
  const fixed = { what: sentence + remark, fix: command === '' ? null : command };
  return { wouldMatch: fixed, explanation: null, tried };
}

/**
 * Tells whether the signed time was near enough when the delivery came. Where nothing says when that was, a delivery that is
 * too old by now is genuine all the same; so is one that was in time then.
 */
function timeChecks(
  timestamp: number | undefined,
  { toleranceMs }: Scheme,
  cameAt: number | undefined,
  now: number,
): readonly Check[] {
  if (timestamp === undefined || toleranceMs === undefined) return [];
  const then = checkTimestamp({ timestamp }, toleranceMs, cameAt ?? now);
  const today = checkTimestamp({ timestamp }, toleranceMs, now);
  const staleToday = (hint: string): Check[] =>
    today.ok ? [] : [check('now', false, `stale by now: ${today.detail}${hint}`)];
  if (then.ok)
    return [check('time', true, ageText(timestamp, toleranceMs, cameAt ?? now)), ...staleToday('')];
  if (cameAt !== undefined)
    return [check('time', false, `at ${new Date(cameAt).toISOString()}, ${then.detail}`)];
  if (then.reason === 'stale_timestamp' && isPlausible(timestamp))
    return staleToday('; give the time at which it was received with --at');
  return [check('time', false, then.detail)];
}

function ageText(timestamp: number, toleranceMs: number, cameAt: number): string {
  const ageMs = cameAt - timestamp;
  const age = `${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'after' : 'before'} it came`;
  const tolerated = formatDuration(toleranceMs).replace(/ 0[smh]$/, '');
  return `signed ${age}; ${tolerated} is tolerated`;
}

/** The verdict on a delivery whose credential is not in the capture: only that these headers came can be shown. */
export const withheldVerdict = (scheme: Scheme, names: readonly string[]): Verdict => ({
  ok: null,
  reason: 'withheld_credential',
  checks: [
    check('header', true, `${names.join(' and ')} came`),
    credentialCheck(scheme, null, 'its value was left out of the capture: nothing here shows who sent it'),
  ],
  ...nothingToExplain,
});

/**
 * The verdict of `verify` on one delivery, printed as JSON; it holds no secret and no expected signature. `ok` is null where the
 * credential is not in the capture. `tried` counts the combinations of the search for an explanation.
 */
export interface Report {
  readonly ok: boolean | null;
  readonly scheme: string;
  readonly reason: string | null;
  readonly checks: readonly Check[];
  readonly wouldMatch: { readonly what: string; readonly fix: string | null } | null;
  readonly explanation: string | null;
  readonly tried: number;
  readonly form: string;
  readonly at: string;
  /** Remarks on parts that the capture does not hold exactly, or that a receiver would refuse besides. */
  readonly notes: readonly string[];
}

/** A failed check named `now` is a remark: the delivery was in time when it came, or when that was is not known. */
export interface Check {
  readonly name: 'secret' | 'header' | 'signature' | 'token' | 'time' | 'now';
  readonly ok: boolean | null;
  readonly detail: string;
}

/** In characters. A shorter text would be found by chance, in the words of a sentence too. */
const shortestSecret = 8;

/** A text without the secrets: a capture may hold them in its URL, or in a header that is shown. */
export const redact = (text: string, secrets: readonly Secret[]): string =>
  withoutSecrets(
    text,
    secrets.filter((secret) => secret.reveal().length >= shortestSecret),
    '[redacted]',
  );

export const redactReport = (report: Report, secrets: readonly Secret[]): Report =>
  JSON.parse(JSON.stringify(report), (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    const clean = redact(value, secrets);
    // A fix would not verify with a part of it hidden.
    return key === 'fix' && clean !== value ? null : clean;
  }) as Report;

/** A line for each check, then the verdict; a fix is not broken, so that it can be copied. */
export async function printText(report: Report, head: string, context: Context): Promise<void> {
  const style = { ...(await styleFor(context)), width: terminalWidth(context.stdout) ?? Infinity };
  const { colours, marks, width } = style;
  const drawn = (text: string): string =>
    asksForAscii(context) ? sanitize(text).replaceAll('…', '...') : sanitize(text);
  const markOf = ({ ok, name }: Check): string => {
    if (ok === true) return colours.green(marks.pass);
    const isRemark = ok === null || name === 'now';
    return isRemark ? colours.yellow(marks.warn) : colours.red(marks.fail);
  };
  const { ok, reason, wouldMatch, explanation, tried } = report;
  const sentence = wouldMatch?.what ?? explanation;
  const count = tried > 0 ? ` (${counted(tried, 'combination', 'combinations')} tried)` : '';
  const refusal =
    ok === null ? colours.yellow('cannot be shown') : colours.red(`not genuine: ${reason ?? ''}`);
  const lines = [
    colours.dim(wrap(drawn(head), width).join('\n')),
    ...report.checks.flatMap((check) => besideMark(markOf(check), check.name, drawn(check.detail), style)),
    ...report.notes.flatMap((note) => besideMark(colours.yellow(marks.warn), 'note', drawn(note), style)),
    colours.bold(ok === true ? colours.green('genuine') : refusal),
    ...(sentence === null ? [] : wrap(drawn(sentence + count), width)),
    ...(wouldMatch?.fix == null ? [] : [`fix: ${colours.bold(drawn(wouldMatch.fix))}`]),
  ];
  await write(context.stdout, `${lines.join('\n')}\n`);
}

import { describe } from '../../describe.ts';
import { createSecretKey } from 'node:crypto';
import { type Capture, targetOf } from '../../capture/capture.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, DataError } from '../../errors.ts';
import { fixFlags } from '../../output/explanation.ts';
import { writeJson } from '../../output/stdout.ts';
import { formatDuration } from '../../time/time-text.ts';
import { checkDelivery } from '../../webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../../webhook/delivery.ts';
import { explain, type Explanation } from '../../webhook/explain/explain-delivery.ts';
import { schemeNames } from '../../webhook/presets.ts';
import type { Key, Scheme, Verifier } from '../../webhook/scheme.ts';
import { schemeNamed } from '../../webhook/scheme-registry.ts';
import { checkTimestamp, isPlausible } from '../../webhook/timestamp.ts';
import { leadPlaceOf, resolveSchemeSecrets, type SchemeSecrets } from '../flags/resolve-scheme.ts';
import { bodyAsAsked, openCapture, rejectMissingCapture } from './open-capture.ts';
import type { VerifyOptions } from './command.ts';
import { type Check, printText, redact, redactReport, type Report } from './report.ts';

export async function run(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { capture, resolved } = await openBoth(options, context);
  const now = context.clock.now();
  const settings = await context.settings();
  const times = { now, chosen: options.at?.at(now, settings.zone), captured: capture.capturedAt };
  const checkedAt = times.chosen ?? times.captured ?? now;
  const { scheme } = resolved;
  if (capture.rawHeaders.length === 0) {
    throw new DataError('the capture holds no headers, and one of them carries the credential', {
      hint: `add it with --header '${scheme.credentialHeaders[0] ?? 'Name'}: …'`,
    });
  }
  const secrets = readSecretsOf(resolved);
  const { body, notes } = bodyAsAsked(capture, scheme, options.bodyForm);
  const delivery = deliveryOf(capture, body, checkedAt);
  const withheld = withheldHeaders(capture, scheme);
  const verdict =
    withheld.length > 0
      ? withoutCredential(delivery, scheme, withheld)
      : examine(delivery, secrets, times, context.platform);
  const verifier = { ...secrets, ...leadPlaceOf(settings, options.leadAt) };
  const isWhole = verdict.ok === true && capture.body !== undefined;
  const report: Report = {
    ...verdict,
    scheme: scheme.name,
    form: capture.form,
    at: new Date(checkedAt).toISOString(),
    notes: [
      ...capture.notes.map(({ message }) => message),
      ...notes,
      ...(isWhole ? furtherRejection(delivery, verifier, checkedAt) : []),
    ],
  };
  const redacted = redactReport(report, resolved.secrets);
  if (options.format === 'json') await writeJson(context.stdout, redacted, 2);
  else await printText(redacted, redact(headOf(capture, report), resolved.secrets), context);
  if (report.ok !== null) return report.ok ? 'done' : 'problems';
  const missing = `the capture does not hold the value of ${withheld.join(' and ')}`;
  throw new DataError(`whether it is genuine cannot be shown: ${missing}`, {
    hint: `add it, from the sender's own log: --header '${withheld[0] ?? 'Name'}: …'`,
  });
}

/** Reads the capture and resolves the scheme: each may depend on what the other says. */
async function openBoth(
  options: VerifyOptions,
  context: Context,
): Promise<{ readonly capture: Capture; readonly resolved: SchemeSecrets }> {
  rejectMissingCapture(options, context);
  const settings = await context.settings();
  const resolve = (detected: Partial<VerifyOptions> = {}): Promise<SchemeSecrets> =>
    resolveSchemeSecrets({ ...options, verify: true, ...detected }, settings, context);
  if (!isSchemeOpen(options, settings)) {
    const resolved = await resolve();
    return { resolved, capture: await openCapture(options, resolved.scheme.credentialHeaders, context) };
  }
  const recognizable = schemeHeaders();
  const capture = await openCapture(
    options,
    recognizable.map(([, header]) => header),
    context,
  );
  const names = new Set(capture.rawHeaders.map(([name]) => name.toLowerCase()));
  const scheme = recognizable.find(([, header]) => names.has(header))?.[0];
  if (scheme !== undefined) return { capture, resolved: await resolve({ scheme }) };
  // The scheme is unknown: the search for an explanation tries all of them.
  const note = 'no header identifies the scheme: name it with --scheme';
  return {
    capture: { ...capture, notes: [...capture.notes, { about: 'delivery', message: note }] },
    resolved: await resolve({ scheme: '{"signatureHeader":"x-signature"}' }),
  };
}

/** Without a URL, that of the host by HTTPS: section 4.2 of the specification wants it so. */
function deliveryOf(capture: Capture, body: Uint8Array, receivedAt: number): Delivery {
  const { method, path, rawHeaders } = capture;
  const url = capture.url ?? '';
  return {
    method,
    path: targetOf(url) ?? path,
    url: url === '' ? path : url,
    rawHeaders,
    body,
    remote: '',
    receivedAt,
  };
}

const headOf = ({ method, url, path }: Capture, report: Report): string =>
  `${method} ${url ?? path} from ${report.form}, checked as ${report.scheme} for ${report.at}`;

type Verdict = Omit<Report, 'form' | 'at' | 'notes' | 'scheme'>;

/**
 * Whether a delivery is genuine, check by check, as `listen` would check it, and the cause where it is not. Throws the
 * `ConfigError` of a secret that the scheme cannot read, where the search does not show how it is meant.
 */
function examine(
  delivery: Delivery,
  { scheme, keys, unreadable }: ReadSecrets,
  times: CheckTimes,
  platform: string,
): Verdict {
  const verification = scheme.authenticate(delivery, keys);
  const name = scheme.name === 'token' ? 'token' : 'signature';
  const detail = `${scheme.credentialHeaders[0] ?? ''} came once and can be read`;
  const came: Check = { name: 'header', ok: true, detail };
  const checkedAt = times.chosen ?? times.captured ?? times.now;
  const searched = (): Explanation =>
    explain(
      delivery,
      { scheme, keys },
      checkedAt,
      unreadable.map(({ key }) => key),
    );
  if (verification.ok) {
    const { key, timestamp } = verification;
    const old = key > 0 ? ': an old one, or one that the sender does not use yet' : '';
    const which = keys.length === 1 ? '' : ` with secret ${key + 1} of ${keys.length}${old}`;
    const time = timeChecks(timestamp, scheme, times);
    const checks: readonly Check[] = [came, { name, ok: true, detail: `matches${which}` }, ...time];
    if (!time.some((check) => check.name === 'time' && check.ok === false))
      return { ok: true, reason: null, checks, ...nothingToExplain };
    const inTime = checkTimestamp(verification, scheme.toleranceMs, checkedAt);
    return {
      ok: false,
      reason: inTime.ok ? null : inTime.reason,
      checks,
      ...explained(searched(), platform),
    };
  }
  const explanation = searched();
  const [first] = unreadable;
  if (first !== undefined && keys.length === 0 && !explanation.isMatch) throw first.error;
  const { reason } = verification;
  const isRead = reason === 'wrong_credential';
  const failure: Check = { name: isRead ? name : 'header', ok: false, detail: verification.detail };
  const checks = [
    ...unreadable.map(
      ({ error }) => ({ name: 'secret', ok: false, detail: describe(error).message }) as const,
    ),
    ...(isRead ? [came] : []),
    ...(isRead && keys.length === 0 ? [] : [failure]),
  ];
  return { ok: false, reason, checks, ...explained(explanation, platform) };
}

const nothingToExplain = { wouldMatch: null, explanation: null, tried: 0 };

function explained(
  { sentence, isMatch, fix, tried }: Explanation,
  platform: string,
): Pick<Report, 'wouldMatch' | 'explanation' | 'tried'> {
  if (sentence === undefined || !isMatch) return { wouldMatch: null, explanation: sentence ?? null, tried };
  const flags = fix === undefined ? undefined : fixFlags(fix, platform);
  const words = `${flags?.receiver ?? ''} ${flags?.capture ?? ''}`.trim();
  return { wouldMatch: { what: sentence, fix: words === '' ? null : words }, explanation: null, tried };
}

const withheldHeaders = (capture: Capture, { credentialHeaders }: Scheme): readonly string[] =>
  credentialHeaders.filter((name) => capture.withheld?.includes(name) === true || isRedacted(capture, name));

const isRedacted = (capture: Pick<Delivery, 'rawHeaders'>, name: string): boolean =>
  headerValues(capture, name).some((value) => value.includes('[redacted]'));

/** The verdict on a delivery whose credential is not in the capture: only that one came can be shown. */
function withoutCredential(delivery: Delivery, scheme: Scheme, names: readonly string[]): Verdict {
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

/** Why `listen` would reject a delivery although it is genuine; empty for one that it accepts. */
function furtherRejection(
  delivery: Delivery,
  verifier: Verifier & ReturnType<typeof leadPlaceOf>,
  receivedAt: number,
): readonly string[] {
  // A capture of single `--header` flags may hold those of the credential alone.
  if (headerValues(delivery, 'content-type').length === 0) return [];
  const checked = checkDelivery(delivery, { ...verifier, path: undefined }, receivedAt);
  if (checked.kind === 'leads' || checked.status === 401) return [];
  return [`'leads listen' would still answer ${checked.status}: ${checked.detail}`];
}

interface CheckTimes {
  readonly now: number;
  readonly chosen: number | undefined;
  readonly captured: number | undefined;
}

/**
 * Tells whether the signed time was near enough when the delivery came. Where nothing says when that was, a delivery that is
 * too old by now is genuine all the same; so is one that was in time then.
 */
function timeChecks(
  timestamp: number | undefined,
  { toleranceMs }: Scheme,
  { now, chosen, captured }: CheckTimes,
): readonly Check[] {
  if (timestamp === undefined || toleranceMs === undefined) return [];
  const receivedAt = chosen ?? captured;
  const then = checkTimestamp({ timestamp }, toleranceMs, receivedAt ?? now);
  const today = checkTimestamp({ timestamp }, toleranceMs, now);
  const staleToday = (hint: string): Check[] =>
    today.ok ? [] : [{ name: 'now', ok: false, detail: `stale by now: ${today.detail}${hint}` }];
  if (!then.ok) {
    const isOld = then.reason === 'stale_timestamp' && isPlausible(timestamp);
    if (receivedAt === undefined && isOld)
      return staleToday('; give the time at which it was received with --at');
    const moment = receivedAt === undefined ? '' : `at ${new Date(receivedAt).toISOString()}, `;
    return [{ name: 'time', ok: false, detail: moment + then.detail }];
  }
  const moment =
    chosen !== undefined ? 'the time asked for' : captured !== undefined ? 'it was captured' : 'now';
  const ageMs = (receivedAt ?? now) - timestamp;
  const tolerated = formatDuration(toleranceMs).replace(/ 0[smh]$/, '');
  const age = `${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'after' : 'before'} ${moment}`;
  return [{ name: 'time', ok: true, detail: `signed ${age}; ${tolerated} is tolerated` }, ...staleToday('')];
}

interface ReadSecrets extends Verifier {
  /** The keys are for the search alone: nothing is verified with them. */
  readonly unreadable: readonly { readonly key: Key; readonly error: ConfigError }[];
}

/** Throws a `ConfigError` for an empty secret. */
function readSecretsOf({ scheme, secrets }: SchemeSecrets): ReadSecrets {
  const keys: Key[] = [];
  const unreadable: ReadSecrets['unreadable'][number][] = [];
  for (const secret of secrets) {
    try {
      keys.push(scheme.key(secret));
    } catch (error) {
      const text = secret.reveal();
      if (!(error instanceof ConfigError) || text.trim() === '') throw error;
      unreadable.push({ key: { secret, material: createSecretKey(Buffer.from(text)) }, error });
    }
  }
  return { scheme, keys, unreadable };
}

/** The schemes that are recognized by a header of their own, with its name in lower case. */
const schemeHeaders = (): readonly (readonly [scheme: string, header: string])[] =>
  schemeNames
    .filter((name) => name !== 'custom' && name !== 'token')
    .map((name) => [name, schemeNamed(name).credentialHeaders[0] ?? ''] as const);

/**
 * Whether there is a secret and nothing says for which scheme. Throws a `ConfigError` where there is neither secret nor
 * token.
 */
function isSchemeOpen(options: VerifyOptions, settings: Settings): boolean {
  const { webhookScheme = 'token', webhookToken, webhookSecret } = settings;
  if (options.scheme !== undefined || webhookScheme !== 'token') return false;
  if (options.secret.length + options.secretFile.length > 0) return true;
  if (options.token.length + options.tokenFile.length > 0 || webhookToken !== undefined) return false;
  if (webhookSecret !== undefined) return true;
  throw new ConfigError('nothing says with which secret it was sent', {
    hint: 'give --token T or --secret S, or set LEADS_WEBHOOK_TOKEN or LEADS_WEBHOOK_SECRET',
  });
}

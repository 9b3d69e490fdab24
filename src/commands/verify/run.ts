import { describe } from '../../describe.ts';
import { createSecretKey } from 'node:crypto';
import { type Capture, targetOf } from '../../capture/capture.ts';
import type { Secret } from '../../secret.ts';
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
import type { VerifyOptions } from './options.ts';
import { type Check, printText, redact, redactReport, type Report } from './report.ts';

export async function run(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { capture, resolved } = await openBoth(options, context);
  const now = context.clock.now();
  const { zone } = await context.settings();
  const times = { now, asked: options.at?.at(now, zone), captured: capture.at };
  const at = times.asked ?? times.captured ?? now;
  if (capture.rawHeaders.length === 0) {
    throw new DataError('the capture holds no headers, and one of them carries the credential', {
      hint: `add it with --header '${resolved.scheme.credentialHeaders[0] ?? 'Name'}: …'`,
    });
  }
  const secrets = readSecretsOf(resolved);
  const { scheme } = secrets;
  const { body, notes } = bodyAsAsked(capture, scheme, options.bodyForm);
  const delivery = deliveryOf(capture, body, at);
  const withheld = withheldHeaders(capture, scheme);
  const verdict =
    withheld.length > 0
      ? withoutCredential(delivery, scheme, withheld)
      : examine(delivery, secrets, times, context.platform);
  const place = leadPlaceOf(await context.settings(), options.leadAt);
  const isWhole = verdict.ok === true && capture.body !== undefined;
  const further = isWhole ? furtherRejection(delivery, secrets, at, place) : undefined;
  const report: Report = {
    ...verdict,
    scheme: scheme.name,
    form: capture.form,
    at: new Date(at).toISOString(),
    notes: [
      ...[...capture.notes, ...notes].map(({ found }) => found),
      ...(further === undefined ? [] : [further]),
    ],
  };
  const redacted = redactReport(report, resolved.secrets);
  if (options.format === 'json') await writeJson(context.stdout, redacted, 2);
  else await printText(redacted, redact(headOf(capture, report), resolved.secrets), context);
  if (report.ok === null) throw withheldError(withheld);
  return report.ok ? 'done' : 'problems';
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
  const capture = await openCapture(options, tellingHeaders(), context);
  const scheme = detectScheme(capture);
  if (scheme !== undefined) return { capture, resolved: await resolve({ scheme }) };
  // The scheme is unknown: the search for an explanation tries all of them.
  const note = 'no header identifies the scheme: name it with --scheme';
  return {
    capture: { ...capture, notes: [...capture.notes, { about: 'delivery', found: note }] },
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

const headOf = ({ method, url, path }: Capture, { form, scheme, at }: Report): string =>
  `${method} ${url ?? path} from ${form}, checked as ${scheme} for ${at}`;

const withheldError = (names: readonly string[]): DataError =>
  new DataError(
    `whether it is genuine cannot be shown: the capture does not hold the value of ${names.join(' and ')}`,
    {
      hint: `add it, from the sender's own log: --header '${names[0] ?? 'Name'}: …'`,
    },
  );

type Verdict = Omit<Report, 'form' | 'at' | 'notes' | 'scheme'>;

/**
 * Whether a delivery is genuine, check by check, as `listen` would check it, and the cause where it is not. Throws the
 * `ConfigError` of a secret that the scheme cannot read, where the search does not show how it is meant.
 */
function examine(delivery: Delivery, secrets: ReadSecrets, times: CheckTimes, platform: string): Verdict {
  const { scheme, keys, unreadable } = secrets;
  const at = times.asked ?? times.captured ?? times.now;
  const verification = scheme.authenticate(delivery, keys);
  const name = scheme.name === 'token' ? 'token' : 'signature';
  const came: Check = {
    name: 'header',
    ok: true,
    detail: `${scheme.credentialHeaders[0] ?? ''} came once and can be read`,
  };
  if (verification.ok) {
    const { key, timestamp } = verification;
    const old = key > 0 ? ': an old one, or one that the sender does not use yet' : '';
    const which = keys.length === 1 ? '' : ` with secret ${key + 1} of ${keys.length}${old}`;
    const time = timeCheck(timestamp, scheme, times);
    const checks: readonly Check[] = [came, { name, ok: true, detail: `matches${which}` }, ...time];
    const isLate = time.some((check) => check.name === 'time' && check.ok === false);
    if (!isLate) return { ok: true, reason: null, checks, ...nothingToExplain };
    const inTime = checkTimestamp(verification, scheme.toleranceMs, at);
    const explanation = explain(delivery, { scheme, keys }, at);
    return {
      ok: false,
      reason: inTime.ok ? null : inTime.reason,
      checks,
      ...explained(explanation, platform),
    };
  }
  const explanation = explain(
    delivery,
    { scheme, keys },
    at,
    unreadable.map(({ key }) => key),
  );
  const [first] = unreadable;
  if (first !== undefined && keys.length === 0 && !explanation.isMatch) throw first.error;
  const { reason, detail } = verification;
  const failure: readonly Check[] =
    reason !== 'wrong_credential'
      ? [{ name: 'header', ok: false, detail }]
      : [came, ...(keys.length === 0 ? [] : [{ name, ok: false, detail } as const])];
  const unread = unreadable.map(({ error }): Check => ({
    name: 'secret',
    ok: false,
    detail: describe(error).message,
  }));
  return { ok: false, reason, checks: [...unread, ...failure], ...explained(explanation, platform) };
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

/** The headers of the scheme whose values the capture does not hold. */
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

/** Why `listen` would reject a delivery although it is genuine; undefined for one that it accepts. */
function furtherRejection(
  delivery: Delivery,
  { scheme, keys }: ReadSecrets,
  at: number,
  place: ReturnType<typeof leadPlaceOf>,
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

/**
 * Whether the signed time was near enough when the delivery came. Where nothing says when that was, a delivery that is too
 * old by now is genuine nevertheless; so is one that was in time then.
 */
function timeCheck(
  timestamp: number | undefined,
  { toleranceMs }: Scheme,
  { now, asked, captured }: CheckTimes,
): readonly Check[] {
  if (timestamp === undefined || toleranceMs === undefined) return [];
  const at = asked ?? captured;
  const then = checkTimestamp({ timestamp }, toleranceMs, at ?? now);
  const today = checkTimestamp({ timestamp }, toleranceMs, now);
  if (at === undefined && !then.ok && then.reason === 'stale_timestamp' && isPlausible(timestamp)) {
    const hint = 'give the time at which it was received with --at';
    return [{ name: 'now', ok: false, detail: `stale by now: ${then.detail}; ${hint}` }];
  }
  if (!then.ok) {
    const detail = at === undefined ? then.detail : `at ${new Date(at).toISOString()}, ${then.detail}`;
    return [{ name: 'time', ok: false, detail }];
  }
  const moment =
    asked !== undefined ? 'the time asked for' : captured !== undefined ? 'it was captured' : 'now';
  const ageMs = (at ?? now) - timestamp;
  const tolerated = formatDuration(toleranceMs).replace(/ 0[smh]$/, '');
  const detail = `signed ${formatDuration(Math.abs(ageMs))} ${ageMs < 0 ? 'after' : 'before'} ${moment}; ${tolerated} is tolerated`;
  const inTime: Check = { name: 'time', ok: true, detail };
  if (at === undefined || today.ok) return [inTime];
  return [inTime, { name: 'now', ok: false, detail: `stale by now: ${today.detail}` }];
}

/** The secrets that a scheme reads, and those that it cannot. */
interface ReadSecrets extends Verifier {
  readonly unreadable: readonly {
    /** The secret as text, for the search alone: nothing is verified with it. */
    readonly key: Key;
    readonly error: ConfigError;
  }[];
}

/** Throws a `ConfigError` for an empty secret. */
function readSecretsOf({ scheme, secrets }: SchemeSecrets): ReadSecrets {
  const keys: Key[] = [];
  const unreadable: ReadSecrets['unreadable'][number][] = [];
  for (const secret of secrets) {
    try {
      keys.push(scheme.key(secret));
    } catch (error) {
      if (!(error instanceof ConfigError) || isEmpty(secret)) throw error;
      unreadable.push({ key: textKey(secret), error });
    }
  }
  return { scheme, keys, unreadable };
}

const isEmpty = (secret: Secret): boolean => secret.reveal().trim() === '';

const textKey = (secret: Secret): Key => ({
  secret,
  material: createSecretKey(Buffer.from(secret.reveal())),
});

/** The schemes that are recognized by a header of their own, with its name. */
const headerOf = (): readonly (readonly [scheme: string, header: string])[] =>
  schemeNames.flatMap((name) =>
    name === 'custom' || name === 'token'
      ? []
      : schemeNamed(name)
          .credentialHeaders.slice(0, 1)
          .map((header) => [name, header] as const),
  );

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

/** Lower-case names of the headers by which a scheme is recognized. */
const tellingHeaders = (): readonly string[] => headerOf().map(([, header]) => header);

/** The first scheme whose header the delivery carries; undefined where it carries the header of no scheme. */
function detectScheme({ rawHeaders }: Pick<Delivery, 'rawHeaders'>): string | undefined {
  const names = new Set(rawHeaders.map(([name]) => name.toLowerCase()));
  return headerOf().find(([, header]) => names.has(header))?.[0];
}

import { createSecretKey } from 'node:crypto';
import { type Capture, targetOf } from '../../capture/capture.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, DataError } from '../../errors.ts';
import { writeJson } from '../../output/stdout.ts';
import { checkDelivery, type Policy } from '../../webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../../webhook/delivery.ts';
import { schemeNames } from '../../webhook/presets.ts';
import type { Key, Scheme } from '../../webhook/scheme.ts';
import { schemeNamed } from '../../webhook/scheme-registry.ts';
import {
  leadPlaceOf,
  otherEventsOf,
  resolveSchemeSecrets,
  type SchemeSecrets,
} from '../flags/resolve-scheme.ts';
import type { VerifyOptions } from './command.ts';
import {
  checkedAt,
  credentialCheck,
  examine,
  nothingToExplain,
  type ReadSecrets,
  type Verdict,
} from './examine.ts';
import { checkedBody, openCapture, rejectMissingCapture } from './open-capture.ts';
import { type Check, printText, redact, redactReport, type Report } from './report.ts';

export async function run(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { capture, resolved } = await openBoth(options, context);
  const now = context.clock.now();
  const settings = await context.settings();
  const times = { now, chosen: options.at?.at(now, settings.zone), captured: capture.capturedAt };
  const receivedAt = checkedAt(times);
  const { scheme } = resolved;
  if (capture.rawHeaders.length === 0) {
    throw new DataError('the capture holds no headers, and one of them carries the credential', {
      hint: `add it with --header '${scheme.credentialHeaders[0] ?? 'Name'}: …'`,
    });
  }
  const secrets = readSecretsOf(resolved);
  const { body, notes } = checkedBody(capture, scheme);
  const delivery = deliveryOf(capture, body, receivedAt);
  const withheld = withheldHeaders(capture, scheme);
  const verdict =
    withheld.length > 0
      ? withoutCredential(delivery, scheme, withheld)
      : examine(delivery, secrets, times, context.platform);
  const isWhole = verdict.ok === true && capture.body !== undefined;
  const refusal = isWhole
    ? furtherRefusal(delivery, { ...secrets, ...leadPlaceOf(settings, options.leadAt) }, settings)
    : [];
  const report: Report = {
    ...verdict,
    scheme: scheme.name,
    form: capture.form,
    at: new Date(receivedAt).toISOString(),
    notes: [...capture.notes.map(({ message }) => message), ...notes, ...refusal],
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
      name: credentialCheck(scheme),
      ok: null,
      detail: `its value ${why}: nothing here shows who sent it`,
    },
  ];
  return { ok: null, reason: 'withheld_credential', checks, ...nothingToExplain };
}

/** Says why `listen` would refuse a delivery although it is genuine; empty for one that it takes. */
function furtherRefusal(
  delivery: Delivery,
  policy: Omit<Policy, 'path'>,
  settings: Settings,
): readonly string[] {
  // A capture of single `--header` flags may hold those of the credential alone.
  if (headerValues(delivery, 'content-type').length === 0) return [];
  const anyPath = { ...policy, path: undefined };
  const checked = checkDelivery(delivery, anyPath, delivery.receivedAt, otherEventsOf(settings));
  if (checked.kind !== 'rejected' || checked.status === 401) return [];
  return [`'leads listen' would still answer ${checked.status}: ${checked.detail}`];
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

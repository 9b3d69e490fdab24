import { createSecretKey } from 'node:crypto';
import { type Capture, pathOf } from '../../capture/capture.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, DataError } from '../../errors.ts';
import { writeJson } from '../../output/stdout.ts';
import { checkDelivery, type Policy } from '../../webhook/check-delivery.ts';
import { type Delivery, headerValues } from '../../webhook/delivery.ts';
import { presets } from '../../webhook/vendor-presets.ts';
import type { Key } from '../../webhook/scheme.ts';
import { leadPlaceOf, otherEventsOf } from '../flags/delivery-flags.ts';
import { resolveSchemeSecrets, type SchemeSecrets } from '../flags/resolve-scheme.ts';
import type { VerifyOptions } from './command.ts';
import {
  examine,
  printText,
  type ReadSecrets,
  redact,
  redactReport,
  type Report,
  withheldVerdict,
} from './report.ts';
import { checkedBody, lengthNotes, openCapture, rejectMissingCapture } from './open-capture.ts';

/**
 * Opens the capture and the secrets, judges the delivery as if it had been received, and prints the report. A delivery whose
 * credential is not in the capture is reported too, and is an error after that: whether it is genuine stays unknown.
 */
export async function run(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { capture, resolved } = await openCaptureAndScheme(options, context);
  const { scheme } = resolved;
  const now = context.clock.now();
  const settings = await context.settings();
  const cameAt = options.at?.at(now, settings.zone) ?? capture.capturedAt;
  const receivedAt = cameAt ?? now;
  if (capture.rawHeaders.length === 0) {
    throw new DataError('the capture holds no headers, and one of them carries the credential', {
      hint: `add it with --header '${scheme.credentialHeaders[0] ?? 'Name'}: …'`,
    });
  }
  const secrets = readSecretsOf(resolved);
  const delivery = deliveryOf(capture, checkedBody(capture, scheme), receivedAt);
  const withheld = scheme.credentialHeaders.filter((name) => capture.withheld?.includes(name));
  const verdict =
    withheld.length > 0 ? withheldVerdict(scheme, withheld) : examine(delivery, secrets, cameAt, context);
  const isWholeAndGenuine = verdict.ok === true && capture.body !== undefined;
  const policy = { ...secrets, ...leadPlaceOf(settings, options.leadAt) };
  const refusals = isWholeAndGenuine ? furtherRefusal(delivery, policy, settings) : [];
  const report: Report = {
    ...verdict,
    scheme: scheme.name,
    form: capture.form,
    at: new Date(receivedAt).toISOString(),
    notes: [...capture.notes.map(({ message }) => message), ...lengthNotes(capture), ...refusals],
  };
  const redacted = redactReport(report, resolved.secrets);
  if (options.format === 'json') await writeJson(context.stdout, redacted, 2);
  else await printText(redacted, redact(headOf(capture, report), resolved.secrets), context);
  if (report.ok !== null) return report.ok ? 'done' : 'problems';
  throw withheldError(withheld);
}

function withheldError(names: readonly string[]): DataError {
  const missing = `the capture does not hold the value of ${names.join(' and ')}`;
  return new DataError(`whether it is genuine cannot be shown: ${missing}`, {
    hint: `add it, from the sender's own log: --header '${names[0] ?? 'Name'}: …', or have it sent again to 'leads listen --explain'`,
  });
}

/**
 * A scheme that is known tells by which header the request is recognized among several of the capture. Where only a secret or a
 * stored token is known, the header of a vendor in the capture tells the scheme, unless the token's own header came too.
 */
async function openCaptureAndScheme(
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
  const vendorHeaders = presets.map(({ signatureHeader }) => signatureHeader);
  const usesToken = settings.webhookToken !== undefined && !hasSecretFlag(options);
  const token = usesToken ? await resolve() : undefined;
  const tokenHeaders = token?.scheme.credentialHeaders ?? [];
  const capture = await openCapture(options, [...tokenHeaders, ...vendorHeaders], context);
  const names = new Set(capture.rawHeaders.map(([name]) => name.toLowerCase()));
  const preset = presets.find(({ signatureHeader }) => names.has(signatureHeader));
  if (preset !== undefined && !tokenHeaders.some((name) => names.has(name))) {
    const isWithheld = capture.withheld?.includes(preset.signatureHeader) === true;
    if (isWithheld && usesToken && settings.webhookSecret === undefined)
      throw withheldError([preset.signatureHeader]);
    return { capture, resolved: await resolve({ scheme: preset.name }) };
  }
  if (token !== undefined) return { capture, resolved: token };
  // The search for an explanation tries all schemes, whatever this one says.
  const resolved = await resolve({ scheme: '{"signatureHeader":"x-signature"}' });
  const message = 'no header identifies the scheme: name it with --scheme';
  return { capture: { ...capture, notes: [...capture.notes, { about: 'delivery', message }] }, resolved };
}

/**
 * Whether there is a secret or a stored token, and nothing says for which scheme. Throws a `ConfigError` where there is neither secret nor
 * token.
 */
function isSchemeOpen(options: VerifyOptions, settings: Settings): boolean {
  const { webhookScheme = 'token', webhookToken, webhookSecret } = settings;
  if (options.scheme !== undefined || webhookScheme !== 'token') return false;
  if (hasSecretFlag(options)) return true;
  if (options.token.length + options.tokenFile.length > 0) return false;
  if (webhookToken !== undefined) return settings.webhookScheme === undefined;
  if (webhookSecret !== undefined) return true;
  throw new ConfigError('nothing says with which secret it was sent', {
    hint: 'give --token T or --secret S, or set LEADS_WEBHOOK_TOKEN or LEADS_WEBHOOK_SECRET',
  });
}

const hasSecretFlag = ({ secret, secretFile }: VerifyOptions): boolean =>
  secret.length + secretFile.length > 0;

/** Throws a `ConfigError` for an empty secret. Another one that the scheme cannot read may explain why nothing matches. */
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

function deliveryOf(capture: Capture, body: Uint8Array, receivedAt: number): Delivery {
  const { method, path, url = path, rawHeaders } = capture;
  return { method, path: pathOf(url) ?? path, url, rawHeaders, body, remote: '', receivedAt };
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

const headOf = ({ method, url, path }: Capture, report: Report): string =>
  `${method} ${url ?? path} from ${report.form}, checked as ${report.scheme} for ${report.at}`;

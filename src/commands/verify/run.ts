import { targetOf } from '../../capture/capture.ts';
import type { Capture } from '../../capture/capture.ts';
import type { Context } from '../../context.ts';
import { DataError } from '../../errors.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { resolveSchemeSecrets, type SchemeSecrets } from '../flags/scheme/resolve-scheme.ts';
import { leadPlaceOf } from '../flags/lead-at.ts';
import { bodyAsAsked } from './input/body-as-asked.ts';
import { detectScheme, isSchemeOpen, tellingHeaders } from './input/detect-scheme.ts';
import { examine, furtherRejection, withheldHeaders, withoutCredential } from './examine.ts';
import { openCapture, rejectConflicts } from './input/open-capture.ts';
import type { VerifyOptions } from './options.ts';
import { printJson, printText } from './report/print-report.ts';
import { readSecretsOf } from './input/read-secrets.ts';
import { redact, redactReport } from './report/redact-report.ts';
import type { Report } from './report/report.ts';
import { signedBase } from './signed-base.ts';

export async function run(options: VerifyOptions, context: Context): Promise<Outcome> {
  const { capture, resolved } = await openBoth(options, context);
  const now = context.clock.now();
  const times = { now, asked: options.at?.(now), captured: capture.at };
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
    withheld.length > 0 ? withoutCredential(delivery, scheme, withheld) : examine(delivery, secrets, times);
  const { base, checks } = await signedBase(options, scheme.name, delivery, resolved.secrets, context);
  const place = leadPlaceOf(await context.settings());
  const isWhole = verdict.ok === true && capture.body !== undefined;
  const further = isWhole ? furtherRejection(delivery, secrets, { at, place }) : undefined;
  const { ok, reason, wouldMatch, explanation, tried } = verdict;
  const report: Report = {
    ok,
    scheme: scheme.name,
    reason,
    checks: [...verdict.checks, ...checks],
    wouldMatch,
    explanation,
    tried,
    form: capture.form,
    at: new Date(at).toISOString(),
    notes: [
      ...[...capture.notes, ...notes].map(({ text }) => text),
      ...(further === undefined ? [] : [further]),
    ],
    ...(base !== undefined && { base }),
  };
  const shown = redactReport(report, resolved.secrets);
  if (options.format === 'json') await printJson(shown, context);
  else await printText(shown, redact(headOf(capture, report), resolved.secrets), context);
  if (report.ok === null) throw withheldError(withheld);
  return report.ok ? 'done' : 'problems';
}

/** Reads the capture and resolves the scheme: each may depend on what the other says. */
async function openBoth(
  options: VerifyOptions,
  context: Context,
): Promise<{ readonly capture: Capture; readonly resolved: SchemeSecrets }> {
  rejectConflicts(options, context);
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
  const { signatureHeader = 'x-signature' } = options;
  const text = 'no header identifies the scheme: name it with --scheme';
  return {
    capture: { ...capture, notes: [...capture.notes, { about: 'delivery', text }] },
    resolved: await resolve({ scheme: 'custom', signatureHeader }),
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

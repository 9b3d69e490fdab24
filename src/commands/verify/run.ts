import { type Capture, targetOf } from '../../capture/capture.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { type Secret, withoutSecrets } from '../../secret.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { compareBases, messageBase } from '../../webhook/rfc9421/message-base.ts';
import { writeJson } from '../../output/stdout.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { leadPlaceOf } from '../flags/lead-at.ts';
import { resolveSchemeSecrets, type SchemeSecrets } from '../flags/resolve-scheme.ts';
import { examine, furtherRejection, withheldHeaders, withoutCredential } from './examine.ts';
import { bodyAsAsked, openCapture, readBounded, rejectConflicts, textOf } from './open-capture.ts';
import type { VerifyOptions } from './options.ts';
import { type Check, printText, redact, redactReport, type Report } from './report.ts';
import { detectScheme, isSchemeOpen, readSecretsOf, tellingHeaders } from './scheme-secrets.ts';

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
    withheld.length > 0
      ? withoutCredential(delivery, scheme, withheld)
      : examine(delivery, secrets, times, context.platform);
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
    form: textOf(capture.form),
    at: new Date(at).toISOString(),
    notes: [
      ...[...capture.notes, ...notes].map(({ found }) => textOf(found)),
      ...(further === undefined ? [] : [further]),
    ],
    ...(base !== undefined && { base }),
  };
  const shown = redactReport(report, resolved.secrets);
  if (options.format === 'json') await writeJson(context.stdout, shown, 2);
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
  const found = 'no header identifies the scheme: name it with --scheme';
  return {
    capture: { ...capture, notes: [...capture.notes, { about: 'delivery', found }] },
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

/** What `--show-base` and `--their-base` ask for; nothing where neither is given. Without the secrets, if it holds one. */
async function signedBase(
  { showBase, theirBase }: VerifyOptions,
  scheme: string,
  delivery: Delivery,
  secrets: readonly Secret[],
  context: Context,
): Promise<{ readonly base?: string; readonly checks: readonly Check[] }> {
  if (!showBase && theirBase === undefined) return { checks: [] };
  if (scheme !== 'rfc9421') {
    throw new UsageError(
      `--${showBase ? 'show' : 'their'}-base belongs to --scheme rfc9421, and the scheme is '${scheme}'`,
    );
  }
  const found = messageBase(delivery);
  if (found?.base === undefined) {
    const detail =
      found === undefined
        ? 'there is no signature base: signature-input and signature name no signature that can be read'
        : `there is no signature base: ${found.missing ?? 'a component'} is not in the request`;
    return { checks: [{ name: 'base', ok: false, detail }] };
  }
  // Before they are compared: what is shown of a long line may end in the middle of a secret.
  const redact = (bytes: Buffer): Buffer =>
    Buffer.from(withoutSecrets(bytes.toString('latin1'), secrets, '[redacted]'), 'latin1');
  const ours = redact(found.base);
  const base = ours.toString('utf8');
  if (theirBase === undefined) return { base, checks: [] };
  const difference = compareBases(ours, redact(await readBounded(theirBase, 'the base', context)));
  const check: Check =
    difference === undefined
      ? { name: 'base', ok: true, detail: 'theirs is the same: the keys differ, or the algorithms' }
      : { name: 'base', ok: false, detail: difference };
  return { ...(showBase && { base }), checks: [check] };
}

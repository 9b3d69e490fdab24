import { once } from 'node:events';
import type { Context, Outcome } from '../../context.ts';
import { isLoopback } from '../../config/base-url.ts';
import { explainFailure } from '../../sender/explain-failure.ts';
import { shellWord } from '../../front.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { counted } from '../../output/terminal/progress.ts';
import { type Palette, paletteFor } from '../../output/terminal/terminal.ts';
import type { RecordedAttempt } from '../../sandbox/deliveries.ts';
import type { LoggedRequest } from '../../sandbox/sandbox-state.ts';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { isCtrlC } from '../flags/polling.ts';
import { type Options, usualRetry } from './command.ts';
import { sendableKey } from '../../config/load-settings.ts';
import { UsageError } from '../../errors.ts';
import { defaultApiKey, type SandboxOptions, type WebhookOptions } from '../../sandbox/sandbox-options.ts';
import { readSecrets, retrySchedule } from '../flags/flag-values.ts';
import { rejectPlainHttp } from '../flags/delivery-target.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';

export async function run(flags: Options, context: Context): Promise<Outcome> {
  const { clock, messages, signal, stdout, stderr } = context;
  const options = await resolveSandbox(flags, context);
  // Deliveries may fail before the sandbox is announced: their notes wait for that.
  let announce = (): void => undefined;
  const announcement = new Promise<void>((resolve) => (announce = resolve));
  let isReceiverReached = false;
  let hasFailed = false;
  const sandbox = await startSandbox(options, {
    clock,
    loopbackCa: await loopbackAuthority(options, context),
    observe: (event) => {
      messages.verbose(eventLine(event));
      if ('method' in event) return;
      isReceiverReached ||= event.outcome === 'acknowledged' && !event.forged;
      const recovery = hasFailed ? `${event.target} acknowledges deliveries now` : undefined;
      const text = isReceiverReached && !event.forged ? recovery : failureText(event);
      hasFailed ||= text !== undefined && !event.forged;
      if (text !== undefined) void announcement.then(() => messages.note(text, text));
    },
  });
  try {
    if (flags.format === 'json') {
      await writeJson(stdout, readyRecord(sandbox, options));
    } else if (!context.globals.quiet) {
      const login = loginCommand(sandbox.url, options, flags.apiKeyFile[0]);
      const lines = readyBanner(sandbox, options, login, await paletteFor(stderr, context));
      await write(stderr, `${lines.join('\n')}\n`);
    }
    announce();
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    const summary = summaryRecord(sandbox);
    await sandbox.close();
    if (flags.format === 'json') await writeJson(stdout, summary);
    else messages.say(summaryLine(summary));
  }
  if (isCtrlC(signal)) return 'done';
  throw signal.reason;
}

/** Made here when `listen` has not made it yet, so that either of the two may start first. */
async function loopbackAuthority(
  { webhook }: ResolvedSandbox,
  { paths, clock }: Context,
): Promise<string | undefined> {
  const { protocol, hostname } = new URL(webhook?.url ?? 'http://localhost/');
  if (protocol !== 'https:' || !isLoopback(hostname)) return undefined;
  return (await ensureAuthority(paths.dataDir, clock)).caPem;
}

function readyBanner(
  { url, leads }: Sandbox,
  { apiKeys: [apiKey = ''], seed, showsKey, webhook }: ResolvedSandbox,
  login: string,
  colour: Palette,
): string[] {
  const command = (text: string): string => `  ${colour.dim('$')} ${colour.bold(text)}`;
  const key = showsKey ? `, API key ${apiKey}` : '';
  const push =
    webhook === undefined
      ? [
          'push:  add --webhook https://localhost:8443/ --token secret,',
          "       and start 'leads listen --token secret'",
        ]
      : [`push:  each lead goes to ${webhook.url}`];
  return [
    `${colour.green('ready')}: ${colour.bold(url)} serves ${counted(leads.length, 'lead', 'leads')} (seed ${seed}${key})`,
    '',
    command(login),
    command('leads list --status new'),
    command('leads export > leads.ndjson'),
    '',
    ...push,
    `see:   ${url}/sandbox/deliveries for every attempt`,
  ];
}

function loginCommand(
  url: string,
  { showsKey, apiKeys: [apiKey = ''] }: ResolvedSandbox,
  apiKeyFile: string | undefined,
): string {
  if (showsKey) return `echo ${shellWord(apiKey)} | leads login --base-url ${url}`;
  if (apiKeyFile !== undefined)
    return `leads login --base-url ${url} --api-key-file ${shellWord(apiKeyFile)}`;
  // The key came from LEADS_API_KEY, where every command finds it.
  return `export LEADS_BASE_URL=${url}`;
}

function readyRecord({ url, port, leads }: Sandbox, options: ResolvedSandbox) {
  const { showsKey, apiKeys, seed, webhook } = options;
  const apiKey = showsKey ? apiKeys[0] : undefined;
  return { type: 'ready', url, port, apiKey, leads: leads.length, seed, webhook: webhook?.url ?? null };
}

const summaryRecord = ({ leads, state: { requests, deliveries, apiInjector } }: Sandbox) => ({
  type: 'summary',
  leads: leads.length,
  requests: requests.length,
  attempts: deliveries.attempts.length,
  acknowledged: deliveries.acknowledged.size,
  pending: deliveries.pending,
  faults: { api: apiInjector.counts, deliveries: deliveries.injector.counts },
});

function summaryLine({ faults, ...counts }: ReturnType<typeof summaryRecord>): string {
  const { leads, requests, attempts, acknowledged, pending } = counts;
  const parts = [
    counted(leads, 'lead', 'leads'),
    counted(requests, 'request', 'requests'),
    ...(attempts > 0 ? [`${acknowledged} acknowledged in ${counted(attempts, 'attempt', 'attempts')}`] : []),
    ...(pending > 0 ? [`${pending} still pending`] : []),
  ];
  const injected = [faults.api, faults.deliveries].flatMap((counts) => Object.entries(counts));
  const faultText = injected.map(([name, times]) => `${name} ${times}`).join(', ');
  return `sandbox: ${parts.join(', ')}${faultText === '' ? '' : `; faults: ${faultText}`}`;
}

function eventLine(event: LoggedRequest | RecordedAttempt): string {
  const faults = event.faults.length === 0 ? '' : ` (${event.faults.join(', ')})`;
  if ('method' in event) {
    const { method, target, status, leads } = event;
    return `${method} ${target}: ${status ?? 'reset'}, ${counted(leads, 'lead', 'leads')}${faults}`;
  }
  const { leadId, attempt, target, outcome, status, error, durationMs } = event;
  const answer = status ?? error ?? '';
  return `POST ${target} ${leadId} attempt ${attempt}: ${outcome} ${answer} in ${durationMs} ms${faults}`;
}

/** Undefined for a success: a receiver is right to reject a forgery, and a dropped delivery was never sent. */
function failureText(attempt: RecordedAttempt): string | undefined {
  const { target, outcome, forged, faults, status, error } = attempt;
  const isAcknowledged = outcome === 'acknowledged';
  if (forged) {
    const text = `${target} acknowledged a forged delivery (${faults.at(-1) ?? ''}): it does not verify what it gets`;
    return isAcknowledged ? text : undefined;
  }
  if (isAcknowledged || outcome === 'dropped') return undefined;
  return `no delivery to ${target} was acknowledged so far: ${explainFailure({ status, error })}`;
}

export interface ResolvedSandbox extends SandboxOptions {
  readonly seed: string;
  readonly apiKeys: readonly string[];
  /** False for an API key from a file or from the environment, which is kept secret. */
  readonly showsKey: boolean;
}

/** Throws a `UsageError` for an array without an envelope that would have to name its next page. */
export async function resolveSandbox(flags: Options, context: Context): Promise<ResolvedSandbox> {
  const { port = 8080, pagination, envelope, leads, seed = '1', every, faults } = flags;
  if (envelope === 'none' && (pagination ?? 'cursor') === 'cursor') {
    throw new UsageError('with the envelope none the body is an array, without a field for the next page', {
      hint: 'use --pagination link, page, offset or none with it',
    });
  }
  return {
    ...{ port, pagination, envelope, leads, seed, faults, everyMs: every },
    ...(await readApiKeys(flags, context)),
    webhook: flags.webhook === undefined ? undefined : await resolveWebhook(flags.webhook, flags, context),
  };
}

async function resolveWebhook(url: string, flags: Options, context: Context): Promise<WebhookOptions> {
  const { retry: retryMs = retrySchedule.parse(usualRetry), deliveryFaults: faults } = flags;
  rejectPlainHttp(new URL(url), 'use https:// (plain http:// is for loopback addresses only)', '--webhook: ');
  return { url, signer: await resolveSigner(flags, context), retryMs, faults };
}

async function readApiKeys(
  { apiKey, apiKeyFile }: Options,
  context: Context,
): Promise<Pick<ResolvedSandbox, 'apiKeys' | 'showsKey'>> {
  const fromFiles = await readSecrets(apiKeyFile, context);
  const fromFlags = [...apiKey, ...fromFiles.map((key) => key.reveal())];
  if (fromFlags.some((key) => !/^[\x21-\x7e]+$/.test(key))) {
    throw new UsageError('an API key is one word of visible characters');
  }
  if (fromFlags.length > 0) return { apiKeys: fromFlags, showsKey: apiKey.length > 0 };
  const fromEnv = (context.env['LEADS_API_KEY'] ?? '').trim();
  if (fromEnv === '') return { apiKeys: [defaultApiKey], showsKey: true };
  return { apiKeys: [sendableKey(fromEnv, 'LEADS_API_KEY').reveal()], showsKey: false };
}

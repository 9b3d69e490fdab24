import type { Context, Outcome } from '../../context.ts';
import { isLoopback, isLoopbackAddress } from '../../config/base-url.ts';
import { InterruptedError } from '../../errors.ts';
import { sentenceOf } from '../../messages/find-message.ts';
import { ensureAuthority } from '../../tls/local-authority.ts';
import { paletteFor, type Palette } from '../../output/terminal/terminal.ts';
import { write, writeJson } from '../../output/stdout.ts';
import { startSandbox, type Sandbox } from '../../sandbox/start-sandbox.ts';
import { type ResolvedSandbox, resolveSandbox } from './sandbox-options.ts';
import type { Options } from './options.ts';
import { shellWord } from '../../output/curl-command.ts';
import { injectedIn } from '../../sandbox/faults.ts';
import type { LoggedRequest } from '../../sandbox/requests.ts';
import type { RecordedAttempt } from '../../sandbox/target-queue.ts';
import { explainFailure } from '../../sender/explain-failure.ts';

export async function run(flags: Options, context: Context): Promise<Outcome> {
  const { clock, messages, signal, stdout, stderr } = context;
  const failures = failureNotes((cause, text) => messages.note(cause, text));
  const options = await resolveSandbox(flags, context);
  const sandbox = await startSandbox(options, {
    clock,
    sentenceOf,
    loopbackCa: await loopbackAuthority(options, context),
    observe: (event) => {
      messages.verbose(eventLine(event));
      if ('outcome' in event) failures.add(event);
    },
  });
  if (options.host !== undefined && !isLoopbackAddress(options.host)) {
    messages.warn(`bound to ${options.host}: other machines can list these leads with the key`);
  }
  try {
    if (flags.format === 'json') {
      await writeJson(stdout, readyRecord(sandbox, options));
    } else if (!context.globals.quiet) {
      const lines = readyBanner(sandbox, options, flags, await paletteFor(stderr, context));
      await write(stderr, `${lines.join('\n')}\n`);
    }
    failures.start();
    await aborted(signal);
  } finally {
    const summary = summaryRecord(sandbox);
    await sandbox.close();
    if (flags.format === 'json') await writeJson(stdout, summary);
    else messages.say(summaryLine(summary));
  }
  // Ctrl-C is the usual end; a SIGTERM is reported.
  if (signal.reason instanceof InterruptedError && signal.reason.signal === 'SIGINT') return 'done';
  throw signal.reason;
}

/** Made here when `listen` has not made it yet, so that either of the two may start first. */
async function loopbackAuthority(
  { webhooks }: ResolvedSandbox,
  { paths, clock }: Context,
): Promise<string | undefined> {
  const needed = webhooks
    .map(({ url }) => new URL(url))
    .some((url) => url.protocol === 'https:' && isLoopback(url.hostname));
  return needed ? (await ensureAuthority(paths.dataDir, clock)).caPem : undefined;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** Where the sandbox is, and commands to use it that run as printed. */
function readyBanner(
  { url, state }: Sandbox,
  { apiKeys: [apiKey = ''], seed, showsKey, webhooks }: ResolvedSandbox,
  { from, apiKeyFile: [apiKeyFile], paused }: Options,
  colour: Palette,
): string[] {
  const command = (text: string): string => `  ${colour.dim('$')} ${colour.bold(text)}`;
  const login = showsKey
    ? `echo ${shellWord(apiKey)} | leads login --base-url ${url}`
    : apiKeyFile === undefined
      ? `export LEADS_BASE_URL=${url}`
      : `leads login --base-url ${url} --api-key-file ${shellWord(apiKeyFile)}`;
  const origin = from === undefined ? `seed ${seed}` : `from ${from}`;
  const key = showsKey ? `, API key ${apiKey}` : '';
  const push = webhooks.map((webhook) => {
    const wait = paused ? ', paused until POST /sandbox/deliveries/resume' : '';
    return `push:  each lead goes to ${webhook.url}${wait}`;
  });
  const noPush = [
    'push:  add --webhook https://localhost:8443/ --token secret,',
    "       and start 'leads listen --token secret'",
  ];
  return [
    `${colour.green('ready')}: ${colour.bold(url)} serves ${counted(state.leads.size, 'lead')} (${origin}${key})`,
    '',
    command(login),
    command('leads list --status new'),
    command('leads export > leads.ndjson'),
    '',
    ...(push.length > 0 ? push : noPush),
    `see:   ${url}/sandbox/deliveries for every attempt`,
  ];
}

/** One JSON object for scripts: the same, in fields. */
const readyRecord = (
  { url, port, state }: Sandbox,
  { showsKey, apiKeys, seed, webhooks }: ResolvedSandbox,
) => ({
  ...{ type: 'ready', url, port, apiKey: showsKey ? apiKeys[0] : undefined },
  ...{ leads: state.leads.size, seed, webhooks: webhooks.map((webhook) => webhook.url) },
});

/** What the sandbox did, as a record. */
const summaryRecord = ({ state: { leads, requests, deliveries, apiInjector } }: Sandbox) => ({
  type: 'summary',
  leads: leads.size,
  requests: requests.total,
  attempts: deliveries.attempts.length,
  acknowledged: deliveries.acknowledged,
  pending: deliveries.pending,
  faults: { api: injectedIn([apiInjector]), deliveries: injectedIn(deliveries.injectors) },
});

/** The same as one line. */
function summaryLine(record: ReturnType<typeof summaryRecord>): string {
  const { leads, requests, attempts, acknowledged, pending } = record;
  const parts = [
    counted(leads, 'lead'),
    counted(requests, 'request'),
    ...(attempts > 0 ? [`${acknowledged} acknowledged in ${counted(attempts, 'attempt')}`] : []),
    ...(pending > 0 ? [`${pending} still pending`] : []),
  ];
  const injected = [...Object.entries(record.faults.api), ...Object.entries(record.faults.deliveries)];
  const faults = injected.map(([name, times]) => `${name} ${times}`).join(', ');
  return `sandbox: ${parts.join(', ')}${faults === '' ? '' : `; faults: ${faults}`}`;
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** One request or one attempt, for `--verbose`. */
function eventLine(event: LoggedRequest | RecordedAttempt): string {
  const faults = event.faults.length === 0 ? '' : ` (${event.faults.join(', ')})`;
  if ('method' in event) {
    const { method, target, status, leads } = event;
    return `${method} ${target}: ${status ?? 'reset'}, ${counted(leads, 'lead')}${faults}`;
  }
  const { leadId, attempt, target, outcome, status, error, durationMs } = event;
  const answer = status ?? error ?? '';
  return `POST ${target} ${leadId} attempt ${attempt}: ${outcome} ${answer} in ${durationMs} ms${faults}`;
}

/**
 * Tells of a target that has acknowledged nothing so far, at the first failure and once for each cause, and of one that
 * acknowledged a forgery, once for each kind: a receiver is right to reject them. Notes are held back until `start`, so that they follow the announcement.
 */
function failureNotes(note: (cause: string, text: string) => void) {
  const reached = new Set<string>();
  let early: RecordedAttempt[] | undefined = [];
  const tell = ({ target, outcome, forged, faults, status, error }: RecordedAttempt): void => {
    if (forged && outcome === 'acknowledged') {
      const kind = faults.at(-1) ?? '';
      note(
        `forgery ${kind} to ${target}`,
        `${target} acknowledged a forged delivery (${kind}): it does not verify what it gets`,
      );
      return;
    }
    if (outcome === 'acknowledged') reached.add(target);
    if (outcome === 'acknowledged' || outcome === 'dropped' || forged || reached.has(target)) return;
    note(
      `delivery to ${target}: ${status ?? error ?? ''}`,
      `no delivery to ${target} was acknowledged so far: ${explainFailure({ status, error })}`,
    );
  };
  return {
    add(attempt: RecordedAttempt): void {
      if (early === undefined) tell(attempt);
      else early.push(attempt);
    },
    start() {
      early?.forEach(tell);
      early = undefined;
    },
  };
}

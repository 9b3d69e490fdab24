import { shellWord } from '../../output/curl-command.ts';
import type { Palette } from '../../output/terminal/colour.ts';
import type { LoggedRequest } from '../../sandbox/requests.ts';
import type { SandboxState } from '../../sandbox/sandbox-state.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import type { RecordedAttempt } from '../../sandbox/target-queue.ts';
import { explainFailure } from '../../messages/sender.ts';
import type { Options } from './options.ts';

/** Where the sandbox is, and commands to use it that run as printed. */
export function readyBanner(sandbox: Sandbox, options: Options, showKey: boolean, colour: Palette): string[] {
  const { url, apiKey, leads } = sandbox;
  const [keyFile] = options.apiKeyFile;
  const origin = options.from === undefined ? `seed ${options.seed ?? '1'}` : `from ${options.from}`;
  const key = showKey ? `, API key ${apiKey}` : '';
  const command = (text: string): string => `  ${colour.dim('$')} ${colour.bold(text)}`;
  const login = showKey
    ? `echo ${shellWord(apiKey)} | leads login --base-url ${url}`
    : keyFile === undefined
      ? `export LEADS_BASE_URL=${url}`
      : `leads login --base-url ${url} --api-key-file ${shellWord(keyFile)}`;
  return [
    `${colour.green('ready')}: ${colour.bold(url)} serves ${counted(leads.size, 'lead')} (${origin}${key})`,
    '',
    command(login),
    command('leads list --status new'),
    command('leads export > leads.ndjson'),
    '',
    ...webhookLines(options),
    `see:   ${url}/sandbox/deliveries for every attempt, /openapi.json for all endpoints`,
  ];
}

/** One JSON object for scripts: the same, in fields. */
export function readyRecord(sandbox: Sandbox, options: Options, showKey: boolean): object {
  return {
    type: 'ready',
    url: sandbox.url,
    port: sandbox.port,
    apiKey: showKey ? sandbox.apiKey : undefined,
    leads: sandbox.leads.size,
    seed: options.seed ?? '1',
    webhooks: options.webhook,
    openapi: `${sandbox.url}/openapi.json`,
  };
}

function webhookLines(options: Options): string[] {
  if (options.webhook.length === 0) {
    return [
      'push:  add --webhook https://localhost:8443/ --token secret,',
      "       and start 'leads listen --token secret'",
    ];
  }
  const paused = options.paused ? ', paused until POST /sandbox/deliveries/resume' : '';
  return options.webhook.map((target) => `push:  each lead goes to ${target}${paused}`);
}

/** What the sandbox did, as a record. */
export function summaryRecord({ leads, requests, deliveries, apiInjector, deliveryInjector }: SandboxState) {
  return {
    type: 'summary',
    leads: leads.size,
    requests: requests.total,
    attempts: deliveries.attempts.length,
    acknowledged: deliveries.acknowledged,
    pending: deliveries.pending,
    faults: {
      api: Object.fromEntries(apiInjector.injected),
      deliveries: Object.fromEntries(deliveryInjector.injected),
    },
  };
}

/** The same as one line. */
export function summaryLine(record: ReturnType<typeof summaryRecord>): string {
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
export function eventLine(event: LoggedRequest | RecordedAttempt): string {
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
 * Tells of a target that has acknowledged nothing so far, at the first failure and once for each cause. Forged attempts
 * do not count: a receiver is right to reject them. Notes are held back until `start`, so that they follow the announcement.
 */
export function failureNotes(note: (cause: string, text: string) => void) {
  const reached = new Set<string>();
  let early: RecordedAttempt[] | undefined = [];
  const tell = ({ target, outcome, forged, status, error }: RecordedAttempt): void => {
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

import { shellWord } from '../../output/shell-word.ts';
import type { Palette } from '../../output/terminal/colour.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import type { Options } from './options.ts';
import { counted } from './session-summary.ts';

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

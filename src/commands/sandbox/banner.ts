import type { Palette } from '../../output/terminal/colour.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import type { Options } from './options.ts';
import { counted } from './summary.ts';

/** What a person needs to go on: where it is, and commands that run as printed. */
export function banner(sandbox: Sandbox, options: Options, shown: boolean, colour: Palette): string[] {
  const { url, apiKey, leads } = sandbox;
  const [keyFile] = options.apiKeyFile;
  const origin = options.from === undefined ? `seed ${options.seed ?? '1'}` : `from ${options.from}`;
  const key = shown ? `, API key ${apiKey}` : '';
  const command = (text: string): string => `  ${colour.dim('$')} ${colour.bold(text)}`;
  const login = shown
    ? `echo ${quoted(apiKey)} | leads login --base-url ${url}`
    : keyFile === undefined
      ? `export LEADS_BASE_URL=${url}`
      : `leads login --base-url ${url} --api-key-file ${quoted(keyFile)}`;
  return [
    `${colour.green('ready')}: ${colour.bold(url)} serves ${counted(leads.size, 'lead')} (${origin}${key})`,
    '',
    command(login),
    command('leads list --status new'),
    command('leads export > leads.ndjson'),
    '',
    ...pushed(options),
    `truth: ${url}/sandbox/deliveries, and all the rest in /openapi.json`,
  ];
}

/** One JSON object for scripts: the same, in fields. */
export function readiness(sandbox: Sandbox, options: Options, shown: boolean): object {
  return {
    type: 'ready',
    url: sandbox.url,
    port: sandbox.port,
    apiKey: shown ? sandbox.apiKey : undefined,
    leads: sandbox.leads.size,
    seed: options.seed ?? '1',
    webhooks: options.webhook,
    openapi: `${sandbox.url}/openapi.json`,
  };
}

function pushed(options: Options): string[] {
  if (options.webhook.length === 0) {
    return [
      'push:  add --webhook https://localhost:8443/ --token secret,',
      "       and start 'leads listen --token secret'",
    ];
  }
  const held = options.paused ? ', held back until POST /sandbox/deliveries/resume' : '';
  return options.webhook.map((target) => `push:  each lead goes to ${target}${held}`);
}

const quoted = (text: string): string =>
  /^[\w./~@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

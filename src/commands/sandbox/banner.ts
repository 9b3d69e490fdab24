import type { Palette } from '../../output/colour.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import type { Options } from './options.ts';

/** What a person needs to go on: where it is, and commands that run as printed. */
export function banner(sandbox: Sandbox, options: Options, colour: Palette): string[] {
  const { url, apiKey } = sandbox;
  const seed = options.from === undefined ? `seed ${options.seed ?? '1'}` : `from ${options.from}`;
  const shownKey = options.apiKeyFile.length > 0 ? '' : `, API key ${apiKey}`;
  const command = (text: string): string => `  $ ${colour.bold(text)}`;
  const login =
    options.apiKeyFile[0] !== undefined
      ? `leads login --base-url ${url} --api-key-file ${options.apiKeyFile[0]}`
      : `echo ${apiKey} | leads login --base-url ${url}`;
  return [
    `${colour.green('ready')}: ${colour.bold(url)} serves ${count(sandbox)} (${seed}${shownKey})`,
    command(login),
    command('leads list --status new'),
    command('leads export > leads.ndjson'),
    ...pushed(options, colour),
    `truth and control: ${url}/sandbox/deliveries, all of them in ${url}/openapi.json`,
  ];
}

/** One JSON object for scripts: the same, in fields. */
export function readiness(sandbox: Sandbox, options: Options): object {
  return {
    type: 'ready',
    url: sandbox.url,
    port: sandbox.port,
    // A key that came from a file stays there.
    apiKey: options.apiKeyFile.length > 0 ? undefined : sandbox.apiKey,
    leads: sandbox.leads.size,
    seed: options.seed ?? '1',
    webhooks: options.webhook,
    openapi: `${sandbox.url}/openapi.json`,
  };
}

function pushed(options: Options, colour: Palette): string[] {
  if (options.webhook.length === 0) {
    return [
      `to have them pushed as well: ${colour.bold('leads listen --token secret')}, and here ` +
        colour.bold('--webhook https://localhost:8443/ --token secret'),
    ];
  }
  const every = options.every === undefined ? '' : ', and each new one';
  return options.webhook.map(
    (target) => `delivers them to ${target}${every}${options.paused ? ', paused' : ''}`,
  );
}

const count = ({ leads }: Sandbox): string => (leads.size === 1 ? '1 lead' : `${leads.size} leads`);

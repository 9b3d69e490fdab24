import { isLoopback } from '../../config/load.ts';
import type { Notes } from '../../output/notes.ts';
import type { Listening } from './report.ts';
import type { ListenOptions } from './options.ts';

/** One line that says where; for a person also how to try it and how to be reached from outside. */
export function announce(listening: Listening, options: ListenOptions, notes: Notes): void {
  const { url, caPath, inbox } = listening;
  notes.say(`listening on ${url}${options.path ?? ''}, inbox ${inbox}`);
  if (options.format !== 'pretty') return;
  const command = tryIt(listening, options);
  if (command !== undefined) notes.say(`  try it   ${command}`);
  if (caPath !== undefined) {
    notes.say('  tunnel   restart with --http and point it at the port, or have it trust the CA above');
  }
}

export function warnOf(options: ListenOptions, host: string, notes: Notes): void {
  if (!options.verify) notes.warn('--no-verify: anybody who can reach this port can put leads in');
  if (!isLoopback(host.includes(':') ? `[${host}]` : host)) {
    notes.warn(`bound to ${host}: other machines can reach this port`);
  }
}

/** The secret stands in a variable: neither the screen nor the shell's history needs to have it. */
function tryIt({ url, caPath, scheme, path }: Listening, options: ListenOptions): string | undefined {
  if (scheme !== 'token' && scheme !== 'none') return undefined;
  const trust = caPath === undefined ? '' : ` --cacert ${quoted(caPath)}`;
  const file = options.tokenFile.find((one) => one !== '-');
  const variable = file === undefined ? '$LEADS_WEBHOOK_TOKEN' : `$(cat ${quoted(file)})`;
  const header = scheme === 'none' ? '' : ` -H "x-webhook-token: ${variable}"`;
  return `curl${trust}${header} --json '{"id":"try-1"}' ${url}${path ?? '/'}`;
}

const quoted = (text: string): string =>
  /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

import { isLoopback } from '../../../config/base-url.ts';
import type { Messages } from '../../../output/messages.ts';
import type { Listening } from '../../../receiver/events.ts';
import type { ListenOptions } from '../options.ts';

/** One line that says where; for a person also how to try it and how to be reached from outside. */
export function announce(listening: Listening, options: ListenOptions, messages: Messages): void {
  const { url, inbox } = listening;
  messages.say(`listening on ${url}${options.path ?? ''}, inbox ${inbox}`);
  if (options.format !== 'pretty') return;
  const command = tryIt(listening, options);
  if (command !== undefined) messages.say(`  try it   ${command}`);
  else if (listening.caPath !== undefined) messages.say(`  trust    ${listening.caPath}`);
  const { port } = new URL(url);
  const plain = options.http ? '' : 'add --http, then ';
  messages.say(`  tunnel   ${plain}cloudflared tunnel --url http://localhost:${port}, or ngrok http ${port}`);
}

export function warnOf(options: ListenOptions, host: string, messages: Messages): void {
  if (!options.verify) messages.warn('--no-verify: anybody who can reach this port can put leads in');
  if (!isLoopback(host.includes(':') ? `[${host}]` : host)) {
    messages.warn(`bound to ${host}: other machines can reach this port`);
  }
}

function tryIt({ url, caPath, scheme, path }: Listening, options: ListenOptions): string | undefined {
  if (scheme !== 'token' && scheme !== 'none') return undefined;
  const trust = caPath === undefined ? '' : ` --cacert ${quoted(caPath)}`;
  const header = scheme === 'none' ? '' : ` -H "x-webhook-token: ${tokenOf(options)}"`;
  return `curl${trust}${header} -H content-type:application/json -d '{"id":"try-1"}' ${url}${path ?? '/'}`;
}

/** Never the token itself: neither the screen nor the shell's history needs to have it. */
function tokenOf({ token, tokenFile }: ListenOptions): string {
  const file = tokenFile.find((one) => one !== '-');
  if (file !== undefined) return `$(cat ${quoted(file)})`;
  return token.length > 0 ? 'YOUR-TOKEN' : '$LEADS_WEBHOOK_TOKEN';
}

const quoted = (text: string): string =>
  /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

import { isLoopback } from '../../../config/base-url.ts';
import type { Messages } from '../../../output/messages.ts';
import { shellWord } from '../../../output/shell-word.ts';
import type { ListenOptions } from '../options.ts';
import type { Listening } from './printer.ts';

/** The address in one line; in the form for people also how to try it and how to reach it from outside. */
export function announce(
  listening: Listening,
  options: ListenOptions,
  isInboxRemoved: boolean,
  messages: Pick<Messages, 'say'>,
): void {
  const { url, inbox } = listening;
  messages.say(`listening on ${url}${options.path ?? ''}, inbox ${inbox}`);
  if (options.format !== 'pretty') return;
  if (isInboxRemoved) messages.say('  inbox    removed at the end; --keep keeps it');
  const command = curlCommand(listening, options);
  if (command !== undefined) messages.say(`  try it   ${command}`);
  else if (listening.caPath !== undefined) messages.say(`  trust    ${listening.caPath}`);
  const { port } = new URL(url);
  const plain = options.http ? '' : 'add --http, then ';
  // Where nothing else guards, only requests for hosts that are named are taken.
  const named = options.verify || options.publicUrl !== undefined ? '' : ', and --public-url with its URL';
  messages.say(
    `  tunnel   ${plain}cloudflared tunnel --url http://localhost:${port}, or ngrok http ${port}${named}`,
  );
}

/** Says which flags let others than the service deliver leads. */
export function warnOfExposure(
  options: Pick<ListenOptions, 'verify'>,
  host: string,
  messages: Pick<Messages, 'warn'>,
): void {
  if (!options.verify) messages.warn('--no-verify: anybody who can reach this port can deliver leads');
  if (!isLoopback(host.includes(':') ? `[${host}]` : host)) {
    messages.warn(`bound to ${host}: other machines can reach this port`);
  }
}

/** Undefined for a scheme that signs: curl cannot. */
function curlCommand({ url, caPath, scheme, path }: Listening, options: ListenOptions): string | undefined {
  if (scheme !== 'token' && scheme !== 'none') return undefined;
  const trust = caPath === undefined ? '' : ` --cacert ${shellWord(caPath)}`;
  const header = scheme === 'none' ? '' : ` -H "x-webhook-token: ${shellToken(options)}"`;
  return `curl${trust}${header} -H content-type:application/json -d '{"id":"try-1"}' ${url}${path ?? '/'}`;
}

/** Never the token itself: it must not get onto the screen or into the shell's history. */
function shellToken({ token, tokenFile }: ListenOptions): string {
  const file = tokenFile.find((name) => name !== '-');
  if (file !== undefined) return `$(cat ${shellWord(file)})`;
  return token.length > 0 ? 'YOUR-TOKEN' : '$LEADS_WEBHOOK_TOKEN';
}

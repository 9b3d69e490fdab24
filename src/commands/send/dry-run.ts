import type { Context } from '../../context.ts';
import { curlCommand, type CurlRequest, withVariables } from '../../output/curl-command.ts';
import { write } from '../../output/stdout.ts';
import { sanitize } from '../../output/terminal/terminal.ts';
import type { outgoingDeliveries } from '../../sender/sender.ts';
import { type Signer, signRequest } from '../../sender/sign-request.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { ResolvedTarget } from '../flags/delivery-target.ts';
import type { SendOptions } from './command.ts';

export interface Sending {
  readonly source: ReturnType<typeof outgoingDeliveries>;
  readonly signer: Signer;
  readonly target: ResolvedTarget;
}

/** `--dry-run`: prints each signed request as a curl line or as HTTP, and how long the signature is fresh. */
export async function printRequests(
  { source, signer, target: { trust, caFile } }: Sending,
  { dryRun, count }: SendOptions,
  { stdout, clock, messages }: Context,
): Promise<void> {
  const variable = signer.scheme.name === 'token' ? 'LEADS_WEBHOOK_TOKEN' : 'LEADS_WEBHOOK_SECRET';
  const secrets = signer.key === undefined ? [] : [{ secret: signer.key.secret, variable }];
  let printed = 0;
  for await (const delivery of source) {
    const { headers, body } = signRequest(signer, delivery, clock.now());
    const url = delivery.target;
    const request = { method: 'POST', url, headers, body, secrets, caFile, insecure: trust.insecure };
    const isHttp = dryRun === 'http';
    await write(stdout, isHttp ? httpText(request, stdout.isTTY === true) : `${curlCommand(request)}\n`);
    printed += 1;
    if (printed === count) break;
  }
  if (printed === 0) messages.note('nothing', 'there is no lead to send');
  else messages.say(validity(signer, clock.now()));
}

function validity({ scheme, key }: Signer, now: number): string {
  if (key === undefined) return 'nothing is signed: a receiver that verifies rejects it';
  const { name, toleranceMs } = scheme;
  const subject = name === 'token' ? 'set LEADS_WEBHOOK_TOKEN to the token; it' : 'the signature';
  if (toleranceMs === undefined) return `${subject} does not expire`;
  const until = new Date(now + toleranceMs).toISOString();
  return `${subject} is fresh until ${until}, for ${formatDuration(toleranceMs)}`;
}

/**
 * `--dry-run=http`: the request in HTTP/1.1, with a variable in place of a secret: its bytes, or, for a terminal, what can be
 * shown there. An empty line ends it, which may stand before the next request (RFC 9112, section 2.2).
 */
function httpText(
  { url, method, headers, body, secrets = [] }: CurlRequest,
  isTerminal: boolean,
): Buffer | string {
  const { host, pathname, search } = new URL(url);
  const sent = headers.some(([name]) => /^host$/i.test(name))
    ? headers
    : [['Host', host] as const, ...headers];
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...sent.map(([name, value]) => `${name}: ${withVariables(value, secrets)}`),
    `Content-Length: ${body.length}`,
  ];
  const text = Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'),
    body,
    Buffer.from('\r\n\r\n'),
  ]);
  return isTerminal ? text.toString('utf8').split(/\r?\n/).map(sanitize).join('\n') : text;
}

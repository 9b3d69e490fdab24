import type { Context } from '../../context.ts';
import {
  curlCommand,
  type CurlRequest,
  type SecretVariable,
  withVariables,
} from '../../output/curl-command.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/stdout.ts';
import { type OutgoingDelivery, type Signer, signRequest } from '../../sender/sign-request.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { ResolvedTarget } from '../flags/resolve-target.ts';
import type { SendOptions } from './options.ts';

/** `--dry-run`: prints each signed request and sends nothing. */
export async function printRequests(
  source: AsyncIterable<readonly OutgoingDelivery[]>,
  signer: Signer,
  { trust, caFile }: ResolvedTarget,
  { dryRun, count = Infinity }: SendOptions,
  { stdout, clock, messages }: Context,
): Promise<void> {
  const secrets = secretVariables(signer);
  let printed = 0;
  const print = async (delivery: OutgoingDelivery): Promise<void> => {
    const { headers, body } = signRequest(signer, delivery, clock.now());
    const url = delivery.target;
    const request = { method: 'POST', url, headers, body, secrets, caFile, insecure: trust.insecure };
    const text = dryRun === 'http' ? httpText(request, stdout.isTTY === true) : curlText(request);
    await write(stdout, text);
    printed += 1;
  };
  for await (const batch of source) {
    for (const delivery of batch.slice(0, count - printed)) await print(delivery);
    if (printed >= count) break;
  }
  if (printed === 0) messages.note('nothing', 'there is no lead to send');
  else messages.say(validity(signer, clock.now()));
}

/** For the text of a header to name instead of the secret in it. */
const secretVariables = ({ scheme, key }: Signer): readonly SecretVariable[] =>
  key === undefined
    ? []
    : [
        {
          secret: key.secret,
          variable: scheme.name === 'token' ? 'LEADS_WEBHOOK_TOKEN' : 'LEADS_WEBHOOK_SECRET',
        },
      ];

/** Until when a receiver with the same tolerance takes it. */
function validity({ scheme, key }: Signer, now: number): string {
  if (key === undefined) return 'nothing is signed: a receiver that verifies rejects it';
  const isToken = scheme.name === 'token';
  if (scheme.toleranceMs === undefined) {
    return isToken
      ? 'set LEADS_WEBHOOK_TOKEN to the token; it does not expire'
      : `the signature of the scheme '${scheme.name}' does not expire`;
  }
  const until = new Date(now + scheme.toleranceMs).toISOString();
  const what = isToken ? 'set LEADS_WEBHOOK_TOKEN to the token; the time beside it' : 'the signature';
  return `${what} is fresh until ${until}, for ${formatDuration(scheme.toleranceMs)}`;
}

/** `--dry-run`: the request as a command that sends it, one line. */
const curlText = (request: CurlRequest): Buffer => Buffer.from(`${curlCommand(request)}\n`);

/**
 * `--dry-run=http`: the request as HTTP/1.1 sends it, with a variable in place of a secret; its bytes exactly, or, for a
 * terminal, as it can be shown there. An empty line ends it, which may stand before the next request (RFC 9112, section 2.2).
 */
function httpText({ url, method, headers, body, secrets = [] }: CurlRequest, isTerminal: boolean): Buffer {
  const { host, pathname, search } = new URL(url);
  const sent = headers.some(([name]) => /^host$/i.test(name))
    ? headers
    : [['Host', host] as const, ...headers];
  const lines = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...sent.map(([name, value]) => `${name}: ${withVariables(value, secrets)}`),
    `Content-Length: ${body.length}`,
  ];
  if (!isTerminal) {
    return Buffer.concat([
      Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
      body,
      Buffer.from('\r\n\r\n'),
    ]);
  }
  const text = Buffer.from(body).toString('utf8').split('\n');
  return Buffer.from(`${[...lines, '', ...text, ''].map(sanitize).join('\n')}\n`);
}

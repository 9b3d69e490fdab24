import type { Context } from '../../context.ts';
import { formatDuration } from '../../time/duration.ts';
import { write } from '../../output/write-stream.ts';
import type { OutgoingDelivery } from '../../sender/outgoing-delivery.ts';
import { type Signer, signRequest } from '../../sender/sign-request.ts';
import type { SecretVariable } from '../../output/curl-command.ts';
import type { ResolvedTarget } from '../flags/target/resolve-target.ts';
import type { SendOptions } from './options.ts';
import { curlText, httpText } from './print/request-text.ts';

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
  if (scheme.name === 'token') return 'set LEADS_WEBHOOK_TOKEN to the token; it does not expire';
  if (scheme.toleranceMs === undefined) return `the signature of the scheme '${scheme.name}' does not expire`;
  const until = new Date(now + scheme.toleranceMs).toISOString();
  return `the signature is fresh until ${until}, for ${formatDuration(scheme.toleranceMs)}`;
}

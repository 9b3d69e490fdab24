import type { StoredDelivery } from '../../inbox/inbox.ts';
import { curlCommand } from '../../output/curl-command.ts';
import { redacted } from '../../inbox/delivery-record.ts';
import { endToEndHeaders } from '../../receiver/targets/forward-request.ts';
import { Secret } from '../../secret.ts';
import type { WireCurl } from '../wire.ts';

/** The delivery as a command for a shell. Credentials are not stored: `$CREDENTIAL` stands for each. */
export function curlOf(delivery: StoredDelivery): WireCurl {
  const { method, headers, body } = delivery;
  const { url, isHttpsAssumed } = addressOf(delivery);
  const command = curlCommand({
    method: method === '' ? 'POST' : method,
    url,
    headers: endToEndHeaders({ rawHeaders: headers }),
    body,
    secrets: [{ secret: new Secret(redacted), variable: 'CREDENTIAL' }],
  });
  return { command, isHttpsAssumed };
}

/** Where nothing says which receiver is meant. */
const placeholder = 'https://receiver.example';

/**
 * Where a delivery was sent to. Anybody may have chosen the host of a rejected one, and a person might send credentials
 * there. Whether it came with TLS is what a proxy says of it.
 */
function addressOf({ verdict, path, headers }: StoredDelivery): {
  readonly url: string;
  readonly isHttpsAssumed: boolean;
} {
  const ownPath = path.startsWith('/') ? path : '/';
  const header = (name: string): string =>
    headers.find(([known]) => known.toLowerCase() === name)?.[1].toLowerCase() ?? '';
  const host = header('host');
  const isHost = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(host);
  if (!isHost || verdict === 'rejected' || verdict === 'other') {
    return { url: `${placeholder}${ownPath}`, isHttpsAssumed: false };
  }
  const [, scheme] =
    /^\s*(https?)\b/.exec(header('x-forwarded-proto')) ??
    /\bproto="?(https?)\b/.exec(header('forwarded')) ??
    [];
  return { url: `${scheme ?? 'https'}://${host}${ownPath}`, isHttpsAssumed: scheme === undefined };
}

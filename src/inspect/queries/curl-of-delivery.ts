import type { StoredDelivery } from '../../inbox/inbox.ts';
import { curlCommand } from '../../output/curl-command.ts';
import { redacted } from '../../inbox/delivery-record.ts';
import { endToEndHeaders } from '../../receiver/targets/forward-request.ts';
import { Secret } from '../../secret.ts';

/** Credentials are not stored, so the command has `$CREDENTIAL` in their place. */
export function curlOf(delivery: StoredDelivery): string {
  const { method, headers, body } = delivery;
  return curlCommand({
    method: method === '' ? 'POST' : method,
    url: addressOf(delivery),
    headers: endToEndHeaders({ rawHeaders: headers }),
    body,
    secrets: [{ secret: new Secret(redacted), variable: 'CREDENTIAL' }],
  });
}

const placeholder = 'https://receiver.example';

/**
 * The host of a rejected delivery may be anybody's choice, and a person might send credentials there. Only a
 * proxy says whether the delivery used TLS; without one, `https` is the receiver's default.
 */
function addressOf({ verdict, path, headers }: StoredDelivery): string {
  const ownPath = path.startsWith('/') ? path : '/';
  const header = (name: string): string =>
    headers.find((header) => header[0].toLowerCase() === name)?.[1].toLowerCase() ?? '';
  const host = header('host');
  const isHost = /^(?:[a-z\d](?:[a-z\d.-]*[a-z\d])?|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(host);
  if (!isHost || verdict === 'rejected' || verdict === 'other') return `${placeholder}${ownPath}`;
  const scheme =
    /^\s*(https?)\b/.exec(header('x-forwarded-proto')) ?? /\bproto="?(https?)\b/.exec(header('forwarded'));
  return `${scheme?.[1] ?? 'https'}://${host}${ownPath}`;
}

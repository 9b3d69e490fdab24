import type { StoredDelivery } from '../../inbox/inbox.ts';
import { curlCommand } from '../../output/curl-command.ts';
import { redacted } from '../../receiver/redelivery/received-delivery.ts';
import { endToEndHeaders } from '../../receiver/targets/forward-request.ts';
import { Secret } from '../../secret.ts';

/** Where nothing says which receiver is meant. */
const placeholder = 'https://receiver.example';

/** The delivery as a command for a shell. Credentials are not stored: `$CREDENTIAL` stands for each. */
export function curlOfDelivery(
  { method, path, headers, body }: StoredDelivery,
  url: string | undefined,
): string {
  const own = path.startsWith('/') ? path : '/';
  return curlCommand({
    method: method === '' ? 'POST' : method,
    url: url ?? `${placeholder}${own}`,
    headers: endToEndHeaders({ rawHeaders: headers }),
    body,
    secrets: [{ secret: new Secret(redacted), variable: 'CREDENTIAL' }],
  });
}

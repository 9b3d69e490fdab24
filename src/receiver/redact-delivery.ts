import type { RedactDelivery } from '../inbox/inbox-options.ts';
import { withoutSecrets } from '../secret.ts';
import { redactHeaders } from '../webhook/redact-headers.ts';
import type { Verifier } from '../webhook/scheme.ts';

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortestSecret = 4;

/** Replaces every header that holds a credential, and the secrets themselves wherever else they occur. */
export function deliveryRedactor({ scheme, keys }: Verifier): RedactDelivery {
  const secrets = keys.map((key) => key.secret).filter((secret) => secret.reveal().length >= shortestSecret);
  const redact = (text: string): string => withoutSecrets(text, secrets, '[redacted]');
  return {
    path: (delivery) => redact(delivery.path),
    headers: (delivery) =>
      redactHeaders(delivery.rawHeaders, scheme).map(([name, value]) => [name, redact(value)]),
  };
}

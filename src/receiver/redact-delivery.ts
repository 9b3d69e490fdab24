import type { RedactDelivery } from '../inbox/sqlite/writer.ts';
import { redact } from '../webhook/redact.ts';
import type { Verifier } from '../webhook/scheme.ts';

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortestSecret = 4;

/** Replaces every header that holds a credential, and the secrets themselves wherever else they occur. */
export function deliveryRedactor({ scheme, keys }: Verifier): RedactDelivery {
  const secrets = keys.map(({ secret }) => secret.reveal()).filter((text) => text.length >= shortestSecret);
  const spellings = [...new Set(secrets.flatMap((text) => [text, encodeURIComponent(text)]))];
  const withoutSecrets = (text: string): string =>
    spellings.reduce(
      (rest, spelling) => (rest.includes(spelling) ? rest.replaceAll(spelling, '[redacted]') : rest),
      text,
    );
  return {
    path: (delivery) => withoutSecrets(delivery.path),
    headers: (delivery) =>
      redact(delivery.rawHeaders, scheme).map(([name, value]) => [name, withoutSecrets(value)]),
  };
}

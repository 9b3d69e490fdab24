import type { RedactDelivery } from '../inbox/inbox-options.ts';
import { redact } from '../webhook/redact.ts';
import type { Verifier } from '../webhook/scheme.ts';

/** Takes out every header that holds a credential, and the secrets themselves wherever else they stand. */
export function deliveryRedactor({ scheme, keys }: Verifier): RedactDelivery {
  // Shorter ones would be found by chance, and are no secrets.
  const secrets = keys.map(({ secret }) => secret.reveal()).filter((text) => text.length >= 4);
  const forms = [...new Set(secrets.flatMap((text) => [text, encodeURIComponent(text)]))];
  const without = (text: string): string =>
    forms.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, '[redacted]') : rest), text);
  return {
    path: (delivery) => without(delivery.path),
    headers: (delivery) => redact(delivery.rawHeaders, scheme).map(([name, value]) => [name, without(value)]),
  };
}

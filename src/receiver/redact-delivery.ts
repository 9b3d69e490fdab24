import type { RedactDelivery } from '../inbox/store-options.ts';
import { type Secret, withoutSecrets } from '../secret.ts';
import { redactHeaders } from '../webhook/headers.ts';
import { type Key, unverified, type Verifier } from '../webhook/scheme.ts';
import { redacted } from './stored-deliveries.ts';

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortestSecret = 4;

/** Replaces every header that holds a credential, and the secrets themselves wherever else they occur. */
export function deliveryRedactor(verifier: Verifier): RedactDelivery {
  const { scheme } = verifier;
  let known: readonly Key[] | undefined;
  let secrets: readonly Secret[] = [];
  const redact = (text: string): string => {
    if (known !== verifier.keys) {
      known = verifier.keys;
      secrets = [...known, ...(verifier.former ?? []), { secret: scheme.verifyToken }]
        .flatMap(({ secret }) => secret ?? [])
        .filter((secret) => secret.reveal().length >= shortestSecret);
    }
    return withoutSecrets(text, secrets, redacted);
  };
  return {
    // A wrong one may be that of another app.
    path: (delivery) => redact(delivery.path).replace(/([?&]hub\.verify_token=)[^&]*/g, `$1${redacted}`),
    headers: (delivery) =>
      redactHeaders(delivery.rawHeaders, scheme).map(([name, value]) => [
        name,
        // A later run that verifies must not take it for a credential that was checked.
        value === redacted && scheme === unverified ? `${redacted} unverified` : redact(value),
      ]),
  };
}

import type { Secret } from '../../secret.ts';

/** Text from the service without the key: a service may quote the key that it refuses. */
export function redact(text: string, key: Secret): string {
  const secret = key.reveal();
  return [secret, encodeURIComponent(secret)].reduce(
    (shown, form) => (form === '' ? shown : shown.replaceAll(form, key.toString())),
    text,
  );
}

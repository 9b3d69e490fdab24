import { type Secret, withoutSecrets } from '../../secret.ts';

/** Text from the service without the key: a service may quote the key that it rejects. */
export const redact = (text: string, key: Secret): string => withoutSecrets(text, [key], key.toString());

import { createSecretKey } from 'node:crypto';
import type { Secret } from '../../secret.ts';
import { secretBytes, type SecretEncoding } from '../crypto/symmetric-key.ts';
import type { Key } from '../scheme.ts';

/** Another way to read the same secret. */
export interface SecretForm {
  readonly key: Key;
  /** Completes "with the secret …". */
  readonly what: string;
  /** For `--secret-encoding`, where one of its values says it. */
  readonly encoding: SecretEncoding | undefined;
}

/** Every way in which a secret is commonly decoded, as plain text first. */
export function secretForms(secret: Secret): readonly SecretForm[] {
  const text = secret.reveal();
  const forms: SecretForm[] = [];
  const add = (what: string, bytes: Buffer | undefined, encoding?: SecretEncoding): void => {
    if (bytes === undefined || bytes.length === 0) return;
    if (forms.some(({ key }) => key.material.export().equals(bytes))) return;
    forms.push({ key: { secret, material: createSecretKey(bytes) }, what, encoding });
  };
  add('taken as text', Buffer.from(text), 'utf8');
  add('decoded from base64', secretBytes(text, 'whsec'), text.startsWith('whsec_') ? 'whsec' : 'base64');
  add('decoded from hex', secretBytes(text, 'hex'), 'hex');
  add("without its 'whsec_'", Buffer.from(text.replace(/^whsec_/, '')));
  const base64 = text
    .replace(/^whsec_/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  add('decoded from base64url', secretBytes(base64, 'base64'));
  add('without the blanks at its ends', Buffer.from(text.trim()));
  add('without the quotes around it', Buffer.from(text.trim().replace(/^(["'])(.*)\1$/s, '$2')));
  add('with a line break at its end', Buffer.from(`${text}\n`));
  return forms;
}

import { credentialTexts, hasSignature } from './credential.ts';
import type { CheckRequest, CheckSession } from './session.ts';

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortest = 4;

/** In bytes: fewer of them, decoded from a text, are found by chance. */
const shortestKey = 8;

/** Bytes as programs usually write them; base64 without the signs at its end, which may be left off. */
const writtenForms = (bytes: Buffer): string[] => {
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase(), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
};

/** The secret, one character a byte, and the forms in which programs write it or the key in it. */
export function secretTexts({ signer: { key } }: CheckSession): string[] {
  if (key === undefined) return [];
  const plain = Buffer.from(key.secret.reveal().trim(), 'utf8').toString('latin1');
  const texts = [...new Set([plain, plain.replace(/^wh(sec|sk)_/, '')])];
  const decoded = texts
    .map((text) => Buffer.from(text, 'base64'))
    .filter(({ length }) => length >= shortestKey);
  const bytes = [...texts.map((text) => Buffer.from(text, 'latin1')), ...decoded];
  return [...texts, ...bytes.flatMap(writtenForms)].filter((form) => form.length >= shortest);
}

export function signatureTexts(session: CheckSession, headers: CheckRequest['headers']): string[] {
  return credentialTexts(session, headers).flatMap((text) => {
    const isHex = /^[0-9a-f]+$/i.test(text);
    return [text, ...writtenForms(Buffer.from(text, isHex ? 'hex' : 'base64'))];
  });
}

/**
 * Text that the receiver sent, without what it must not disclose: the secret, whatever was made of the token, and every
 * signature that was sent to it or withheld from it.
 */
export function withoutSensitive(session: CheckSession, text: string): string {
  // A receiver may send back what it got, too: a genuine signature, or an altered token, which is almost the token.
  const textsOf = hasSignature(session) ? signatureTexts : credentialTexts;
  const headers = session.exchanges.flatMap(({ request }) => [...request.genuine, ...request.headers]);
  const credentials = session.signer.key === undefined ? [] : textsOf(session, headers);
  const userValues = (session.signer.headers ?? []).map(([, value]) => value);
  const texts = [...new Set([...secretTexts(session), ...userValues, ...credentials])]
    .filter(({ length }) => length >= shortest)
    .sort((a, b) => b.length - a.length);
  return texts.reduce((cleared, secret) => {
    const forms = new Set([
      secret,
      Buffer.from(secret, 'latin1').toString('utf8'),
      encodeURIComponent(secret),
    ]);
    return [...forms].reduce((clean, form) => clean.replaceAll(form, '[redacted]'), cleared);
  }, text);
}

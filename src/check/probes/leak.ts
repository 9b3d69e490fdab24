import { credentialTexts, hasSignature } from './credential.ts';
import type { Probe } from '../probe.ts';
import type { CheckRequest, CheckSession } from '../session.ts';

/**
 * The probe `leak.secret` searches the answers to all other probes for texts that no receiver may tell: the secret, and a signature that
 * the request should have had. `redactSensitive` removes the same texts, and the sent ones, from what is printed of an answer.
 */
export const leakProbe: Probe = {
  name: 'leak.secret',
  rule: '4.2 rule 3',
  level: 'must',
  isHarmless: true,
  runsLast: true,
  expected: 'no answer holds the token, the secret, or the right signature',
  hint: 'say only that the credential does not match: whoever sends a request would learn the secret, or what to send',
  requires: ['credential'],
  run(session) {
    const secrets = secretTexts(session);
    const { exchanges } = session;
    const leak = exchanges.find(({ request, answer }) => {
      // A character stands for each byte, as in the texts that are searched for.
      const text = `${answer.head}\n${answer.body.toString('latin1')}`;
      return [...secrets, ...withheldSignatures(session, request)].some((secret) => text.includes(secret));
    });
    return leak === undefined
      ? { result: 'pass', seen: `none of ${exchanges.length} answers does` }
      : { result: 'fail', seen: 'an answer does', exchange: leak };
  },
};

/** The right signatures that the request did not send: one that was sent may come back. */
function withheldSignatures(session: CheckSession, { genuine, headers }: CheckRequest): string[] {
  if (!hasSignature(session)) return [];
  const sent = signatureTexts(session, headers);
  return signatureTexts(session, genuine).filter((text) => !sent.includes(text));
}

/** Shorter texts, and shorter keys that are decoded from a text, would be found by chance. */
const shortestText = 4;
const shortestKeyBytes = 8;

/** Bytes as programs usually write them; base64 without the signs at its end, which may be left off. */
const writtenForms = (bytes: Buffer): string[] => {
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase(), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
};

/** The secret, one character a byte, and the forms in which programs write it or the key in it. */
function secretTexts({ signer: { key } }: CheckSession): string[] {
  if (key === undefined) return [];
  const plain = Buffer.from(key.secret.reveal().trim(), 'utf8').toString('latin1');
  const texts = [...new Set([plain, plain.replace(/^wh(sec|sk)_/, '')])];
  const decoded = texts
    .map((text) => Buffer.from(text, 'base64'))
    .filter(({ length }) => length >= shortestKeyBytes);
  const bytes = [...texts.map((text) => Buffer.from(text, 'latin1')), ...decoded];
  return [...texts, ...bytes.flatMap(writtenForms)].filter(({ length }) => length >= shortestText);
}

const signatureTexts = (session: CheckSession, headers: CheckRequest['headers']): string[] =>
  credentialTexts(session, headers).flatMap((text) => {
    const isHex = /^[0-9a-f]+$/i.test(text);
    return [text, ...writtenForms(Buffer.from(text, isHex ? 'hex' : 'base64'))];
  });

/**
 * Replaces what must not be shown in a text that the receiver sent: the secret, the user's own headers, credentials that were made
 * of the token, and every signature that was sent to the receiver or withheld from it. Longer texts are replaced first, since
 * they may contain shorter ones.
 */
export function redactSensitive(session: CheckSession, text: string): string {
  const { signer, exchanges } = session;
  // A receiver may send back what it got, too: a genuine signature, or an altered token, which is almost the token.
  const textsOf = hasSignature(session) ? signatureTexts : credentialTexts;
  const headers = exchanges.flatMap(({ request }) => [...request.genuine, ...request.headers]);
  const credentials = signer.key === undefined ? [] : textsOf(session, headers);
  const userValues = (signer.headers ?? []).map(([, value]) => value);
  const sensitive = [...new Set([...secretTexts(session), ...userValues, ...credentials])]
    .filter(({ length }) => length >= shortestText)
    .sort((a, b) => b.length - a.length)
    .flatMap((secret) => [
      secret,
      Buffer.from(secret, 'latin1').toString('utf8'),
      encodeURIComponent(secret),
    ]);
  return sensitive.reduce((cleared, secret) => cleared.replaceAll(secret, '[redacted]'), text);
}

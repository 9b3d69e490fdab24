import type { SignedRequest } from '../../sender/sign-request.ts';
import type { CheckSession } from '../session.ts';

type Headers = SignedRequest['headers'];

/** Signatures in hex or base64, and nothing else that headers of schemes hold but ids. */
const signature = /[A-Za-z0-9+/_-]{20,}={0,2}/g;

/** Lower-case name of the header that holds the credential itself, of those that are sent: the last of several. */
export function credentialHeader(session: CheckSession): string {
  const { credentialHeaders } = session.signer.scheme;
  const sent = session.credential(Buffer.from('{}'), 'msg_leads-check').map(([name]) => name.toLowerCase());
  return sent.findLast((name) => credentialHeaders.includes(name)) ?? '';
}

/** The headers with the token, or the signature inside its header, changed. */
export function alterCredential(
  session: CheckSession,
  headers: Headers,
  alter: (text: string) => string,
): Headers {
  const name = credentialHeader(session);
  return headers.map(([own, value]) =>
    own.toLowerCase() === name ? [own, alterValue(session, value, alter)] : [own, value],
  );
}

function alterValue(session: CheckSession, value: string, alter: (text: string) => string): string {
  if (!signs(session)) return alter(value);
  const last = [...value.matchAll(signature)].at(-1);
  if (last === undefined) return alter(value);
  const end = last.index + last[0].length;
  return value.slice(0, last.index) + alter(last[0]) + value.slice(end);
}

/** The signatures that these headers hold, or the token. */
export function credentialTexts(session: CheckSession, headers: Headers): string[] {
  const name = credentialHeader(session);
  return headers
    .filter(([own]) => own.toLowerCase() === name)
    .flatMap(([, value]) => (signs(session) ? (value.match(signature) ?? []) : [value]));
}

/** Whether the credential depends on the body: a token does not. */
export const signs = ({ signer: { scheme } }: CheckSession): boolean => scheme.ignoresBody !== true;

export const noCredential = ({ signer }: CheckSession): string | undefined =>
  signer.key === undefined ? 'no credential is sent (--no-verify)' : undefined;

import { randomBytes } from 'node:crypto';
import type { SignedRequest } from '../sender/sign-request.ts';
import type { CheckRequest, CheckSession } from './session.ts';

type Headers = SignedRequest['headers'];

/** As long as the right one, so that nothing but its characters gives it away. */
export const otherText = (text: string): string =>
  randomBytes(text.length).toString('hex').slice(0, text.length);

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
  return withCredential(session, headers, (value) => alterValue(session, value, alter));
}

/** The headers with another value of the one that holds the credential. */
export function withCredential(
  session: CheckSession,
  headers: Headers,
  change: (value: string) => string,
): Headers {
  const name = credentialHeader(session);
  return headers.map(([own, value]) => [own, own.toLowerCase() === name ? change(value) : value]);
}

function alterValue(session: CheckSession, value: string, alter: (text: string) => string): string {
  if (!signs(session)) return alter(value);
  const last = [...value.matchAll(signature)].at(-1);
  if (last === undefined) return alter(value);
  const end = last.index + last[0].length;
  return value.slice(0, last.index) + alter(last[0]) + value.slice(end);
}

/** How the header of this scheme holds two signatures, as its own verification reads it; undefined where it holds one. */
export function signatureJoiner(
  session: CheckSession,
): ((first: string, second: string) => string) | undefined {
  const { signer, endpoint, clock } = session;
  const { scheme, key } = signer;
  if (key === undefined) return undefined;
  const name = credentialHeader(session);
  const body = Buffer.from('{}');
  const rawHeaders = session.credential(body, 'msg_leads-check');
  const right = rawHeaders.find(([own]) => own.toLowerCase() === name)?.[1] ?? '';
  const wrong = alterValue(session, right, (text) =>
    text.replace(/[a-zA-Z0-9]/, (one) => (one === 'a' ? 'b' : 'a')),
  );
  const isTaken = (value: string): boolean => {
    const headers = withCredential(session, rawHeaders, () => value);
    const { pathname, search, href } = endpoint.url;
    const request = { method: 'POST', path: pathname + search, url: href, body, rawHeaders: headers };
    return scheme.authenticate({ ...request, remote: '', receivedAt: clock.now() }, [key]).ok;
  };
  return [' ', ',', ', ', ';']
    .map(
      (separator) =>
        (first: string, second: string): string =>
          [...first.split(separator), second.split(separator).at(-1)].join(separator),
    )
    .find((join) => isTaken(join(wrong, right)) && isTaken(join(right, wrong)));
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

/** Why a probe of signatures does not apply; undefined: it does. */
export const unsigned = (session: CheckSession): string | undefined =>
  noCredential(session) ??
  (signs(session) ? undefined : `the scheme '${session.signer.scheme.name}' signs nothing`);

/** The request, which is kept as one whose own credential no answer may hold. */
export function withoutCredential(session: CheckSession, request: CheckRequest): CheckRequest {
  return withoutHeaders(request, session.signer.scheme.credentialHeaders);
}

/** The same without time and nonce as well: without all that the scheme sends. */
export const withoutProof = (session: CheckSession, request: CheckRequest): CheckRequest =>
  withoutHeaders(request, proofHeaders(session));

/** `names` in lower case. */
function withoutHeaders(request: CheckRequest, names: readonly string[]): CheckRequest {
  const headers = request.headers.filter(([name]) => !names.includes(name.toLowerCase()));
  return { ...request, headers, withheld: request.headers };
}

/** Lower-case names of all headers that the scheme sends: the credential, and what stands beside it. */
const proofHeaders = (session: CheckSession): string[] =>
  session.credential(Buffer.from('{}'), 'msg_leads-check').map(([name]) => name.toLowerCase());

/** A delivery that lacks a part of its proof, and what that is: `without x-time`. */
export interface Incomplete {
  readonly what: string;
  readonly request: CheckRequest;
}

/**
 * The request without each header beside the credential, with each of them empty, without each part of a header, and without
 * all of them; none where the credential is one value.
 */
export function incompleteRequests(session: CheckSession, request: CheckRequest): Incomplete[] {
  const names = proofHeaders(session);
  const credential = credentialHeader(session);
  const changed = request.headers.flatMap(([name, value], at): Incomplete[] => {
    if (!names.includes(name.toLowerCase())) return [];
    const lacking = (what: string, rest: string): Incomplete => {
      const headers = request.headers.with(at, [name, rest]);
      return { what, request: { ...request, headers, withheld: request.headers } };
    };
    const parts = signs(session) ? value.split(/(?<=[,;])/) : [value];
    const inPart = parts.map((_, i) =>
      lacking(
        `without the ${ordinals[i] ?? 'next'} part of ${name}`,
        parts.toSpliced(i, 1).join('').trim().replace(/[,;]$/, ''),
      ),
    );
    const whole = [
      { what: `without ${name}`, request: withoutHeaders(request, [name.toLowerCase()]) },
      lacking(`with ${name} empty`, ''),
    ];
    return [...(name.toLowerCase() === credential ? [] : whole), ...(parts.length > 1 ? inPart : [])];
  });
  return changed.length === 0
    ? []
    : [...changed, { what: 'without all of them', request: withoutProof(session, request) }];
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth'];

/** In characters. A shorter text would be found by chance, and is no secret. */
const shortest = 4;

/** In bytes: fewer of them, decoded from a text, are found by chance. */
const shortestKey = 8;

/** Bytes as programs usually write them; base64 without the signs at its end, which may be left off. */
const writtenForms = (bytes: Buffer): string[] => {
  const hex = bytes.toString('hex');
  return [hex, hex.toUpperCase(), bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url')];
};

/** The secret as it was given, one character a byte, and as programs write it, or the key in it, otherwise. */
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

/** Signatures as they are sent, and the same bytes in other encodings. */
export function signatureTexts(session: CheckSession, headers: SignedRequest['headers']): string[] {
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
  const textsOf = signs(session) ? signatureTexts : credentialTexts;
  const sent = session.exchanges.flatMap(({ request: { headers, withheld = [] } }) => [
    ...withheld,
    ...headers,
  ]);
  const credentials = noCredential(session) === undefined ? textsOf(session, sent) : [];
  // The user's own headers may hold credentials too.
  const own = (session.signer.headers ?? []).map(([, value]) => value);
  const texts = [...new Set([...secretTexts(session), ...own, ...credentials])]
    .filter((one) => one.length >= shortest)
    .sort((a, b) => b.length - a.length);
  return texts.reduce((shown, one) => {
    const forms = new Set([one, Buffer.from(one, 'latin1').toString('utf8'), encodeURIComponent(one)]);
    return [...forms].reduce((rest, form) => rest.replaceAll(form, '[redacted]'), shown);
  }, text);
}

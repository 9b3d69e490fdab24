import { createSecretKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { kindOf } from '../webhook/crypto/signature.ts';
import type { Key } from '../webhook/scheme.ts';
import type { CheckRequest, CheckSession, TestLead } from './session.ts';

/** A request that is never sent: it shows how the scheme signs. */
const sampleOf = (session: CheckSession): CheckRequest => {
  const lead: TestLead = { id: 'leads-check', value: {}, madeAt: session.clock.now() };
  return session.deliveryOf(lead);
};

/** Lower-case names of all headers that the scheme sends: the credential, its time and its id. */
const proofHeaders = (session: CheckSession): string[] =>
  sampleOf(session).genuine.map(([name]) => name.toLowerCase());

/** Lower-case name of the header that holds the credential itself: the last of several. */
export const credentialHeader = (session: CheckSession): string =>
  proofHeaders(session).findLast((name) => session.signer.scheme.credentialHeaders.includes(name)) ?? '';

/** Whether the credential depends on the body: a token does not. */
export const hasSignature = ({ signer: { scheme } }: CheckSession): boolean => scheme.ignoresBody !== true;

/** A signature in hex or base64; no other part of a scheme's header but an id looks like it. */
const signature = /[A-Za-z0-9+/_-]{20,}={0,2}/g;

export const credentialValue = (session: CheckSession, { headers }: CheckRequest): string =>
  headers.findLast(([name]) => name.toLowerCase() === credentialHeader(session))?.[1] ?? '';

/** The signatures that these headers hold, or the token. */
export function credentialTexts(session: CheckSession, headers: CheckRequest['headers']): string[] {
  const header = credentialHeader(session);
  return headers
    .filter(([name]) => name.toLowerCase() === header)
    .flatMap(([, value]) => (hasSignature(session) ? (value.match(signature) ?? []) : [value]));
}

/** The credential of the run's own key, as it would be sent. */
export const sampleTexts = (session: CheckSession): string[] =>
  credentialTexts(session, sampleOf(session).genuine);

/** The request with another value in the header of the credential. */
export function withCredential(
  session: CheckSession,
  request: CheckRequest,
  change: (value: string) => string,
): CheckRequest {
  const header = credentialHeader(session);
  const headers = request.headers.map(
    ([name, value]) => [name, name.toLowerCase() === header ? change(value) : value] as const,
  );
  return { ...request, headers };
}

/** The request with the token, or the signature inside its header, changed. */
export const withAlteredCredential = (
  session: CheckSession,
  request: CheckRequest,
  alter: (text: string) => string,
): CheckRequest =>
  withCredential(session, request, (value) => {
    const last = hasSignature(session) ? [...value.matchAll(signature)].at(-1) : undefined;
    if (last === undefined) return alter(value);
    return value.slice(0, last.index) + alter(last[0]) + value.slice(last.index + last[0].length);
  });

/** A delivery of the lead whose credential is as long as the right one, so that nothing but its characters differs. */
export const forgedDelivery = (session: CheckSession, lead: TestLead): CheckRequest =>
  withAlteredCredential(session, session.deliveryOf(lead), otherText);

export const otherText = (text: string): string =>
  randomBytes(text.length).toString('hex').slice(0, text.length);

/** `names` in lower case. */
const withoutHeaders = (request: CheckRequest, names: readonly string[]): CheckRequest => ({
  ...request,
  headers: request.headers.filter(([name]) => !names.includes(name.toLowerCase())),
});

export const withoutCredential = (session: CheckSession, request: CheckRequest): CheckRequest =>
  withoutHeaders(request, session.signer.scheme.credentialHeaders);

/** The request without the credential, its time and its id. */
export const withoutProof = (session: CheckSession, request: CheckRequest): CheckRequest =>
  withoutHeaders(request, proofHeaders(session));

/** A form of one delivery, named as in `it answered 200 without x-time`. */
export interface Variant {
  readonly form: string;
  readonly request: CheckRequest;
}

const ordinals = ['first', 'second', 'third', 'fourth', 'fifth'];

/** The request lacking each part of its proof in turn, then all of it; no variant where the credential is one value. */
export function incompleteVariants(session: CheckSession, request: CheckRequest): Variant[] {
  const proof = proofHeaders(session);
  const credential = credentialHeader(session);
  const variants = request.headers.flatMap(([name, value], index): Variant[] => {
    if (!proof.includes(name.toLowerCase())) return [];
    const changed = (form: string, changedValue: string): Variant => ({
      form,
      request: { ...request, headers: request.headers.with(index, [name, changedValue]) },
    });
    const parts = hasSignature(session) ? value.split(/(?<=[,;])/) : [value];
    const withoutPart = parts.map((_, i) =>
      changed(
        `without the ${ordinals[i] ?? 'next'} part of ${name}`,
        parts.toSpliced(i, 1).join('').trim().replace(/[,;]$/, ''),
      ),
    );
    const withoutWhole = [
      { form: `without ${name}`, request: withoutHeaders(request, [name.toLowerCase()]) },
      changed(`with ${name} empty`, ''),
    ];
    return [
      ...(name.toLowerCase() === credential ? [] : withoutWhole),
      ...(parts.length > 1 ? withoutPart : []),
    ];
  });
  if (variants.length === 0) return [];
  return [...variants, { form: 'without all of them', request: withoutProof(session, request) }];
}

/** The sign between two signatures in one header, as the scheme's own verification reads it; undefined: it reads one. */
export function signatureSeparator(session: CheckSession): string | undefined {
  const { signer, endpoint, clock } = session;
  const { scheme, key } = signer;
  const right = sampleOf(session);
  const wrong = withAlteredCredential(session, right, (text) =>
    text.replace(/[a-zA-Z0-9]/, (letter) => (letter === 'a' ? 'b' : 'a')),
  );
  const isTaken = ({ body, headers }: CheckRequest): boolean => {
    const { pathname, search, href } = endpoint.url;
    const place = { method: 'POST', path: pathname + search, url: href, remote: '' };
    const delivery = { ...place, body, rawHeaders: headers, receivedAt: clock.now() };
    return key !== undefined && scheme.authenticate(delivery, [key]).ok;
  };
  return [' ', ',', ', ', ';'].find(
    (separator) =>
      isTaken(withBothSignatures(session, [wrong, right], separator)) &&
      isTaken(withBothSignatures(session, [right, wrong], separator)),
  );
}

/** The first request, with the second one's signature behind its own. */
export function withBothSignatures(
  session: CheckSession,
  [first, second]: readonly [CheckRequest, CheckRequest],
  separator: string,
): CheckRequest {
  const added = credentialValue(session, second).split(separator).at(-1);
  return withCredential(session, first, (value) => [...value.split(separator), added].join(separator));
}

const newPair = promisify(generateKeyPair);

/** Makes a fresh key of the same kind and name. */
export const otherKey = async (key: Key | undefined): Promise<Key | undefined> =>
  key && { ...key, material: await otherMaterial(kindOf(key.material)) };

async function otherMaterial(kind: ReturnType<typeof kindOf>): Promise<KeyObject> {
  switch (kind) {
    case 'ed25519':
      return (await newPair('ed25519')).privateKey;
    case 'p256':
      return (await newPair('ec', { namedCurve: 'P-256' })).privateKey;
    case 'rsa':
      return (await newPair('rsa', { modulusLength: 2048 })).privateKey;
    case 'rsa-pss':
      return (await newPair('rsa-pss', { modulusLength: 2048 })).privateKey;
    case 'secret':
    case undefined:
      return createSecretKey(randomBytes(32));
  }
}

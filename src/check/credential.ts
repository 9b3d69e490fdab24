import { randomBytes } from 'node:crypto';
import type { CheckRequest, CheckSession, TestLead } from './session.ts';

const sampleOf = (session: CheckSession): CheckRequest =>
  session.deliveryOf({ id: 'leads-check', value: {}, madeAt: session.clock.now() });

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

/** Another token, or the header with another signature in the place of the last one: as long, and of letters and digits. */
export const otherCredential = (value: string): string =>
  value.replace(/[^=,; ]*=*$/, ({ length }) => randomBytes(length).toString('hex').slice(0, length));

/** A delivery of the lead whose credential is as long as the right one, so that nothing but its characters differs. */
export const forgedDelivery = (session: CheckSession, lead: TestLead): CheckRequest =>
  withCredential(session, session.deliveryOf(lead), otherCredential);

export function withForeignSignature(session: CheckSession, lead: TestLead): CheckRequest {
  const body = Buffer.from(JSON.stringify({ ...lead.value, category: otherCredential('changed') }));
  return { ...session.deliveryOf(lead), headers: session.deliveryOf(lead, { body }).headers };
}

/** The requests in one, with both signatures in one header, in this order; undefined where the scheme sends one alone. */
export function withBothSignatures(
  session: CheckSession,
  first: CheckRequest,
  second: CheckRequest,
): CheckRequest | undefined {
  const separator = session.signer.scheme.recipe?.separator;
  if (separator === undefined) return undefined;
  const added = credentialValue(session, second).split(separator).at(-1) ?? '';
  return withCredential(session, first, (value) => `${value}${separator}${added}`);
}

const withoutHeaders = (request: CheckRequest, names: readonly string[]): CheckRequest => ({
  ...request,
  headers: request.headers.filter(([name]) => !names.includes(name.toLowerCase())),
});

export const withoutCredential = (session: CheckSession, request: CheckRequest): CheckRequest =>
  withoutHeaders(request, session.signer.scheme.credentialHeaders);

export const withoutProof = (session: CheckSession, request: CheckRequest): CheckRequest =>
  withoutHeaders(request, proofHeaders(session));

/** The request without each header of its proof, with each of them empty, and without each part of a signature's header. */
export function incompleteForms(session: CheckSession, request: CheckRequest): CheckRequest[] {
  const proof = proofHeaders(session);
  return request.headers.flatMap(([name, value], index) => {
    if (!proof.includes(name.toLowerCase())) return [];
    const changed = (form: string, changedValue: string): CheckRequest => ({
      ...request,
      form,
      headers: request.headers.with(index, [name, changedValue]),
    });
    const parts = hasSignature(session) ? value.split(/(?<=[,;])/) : [];
    const withoutPart = parts.map((_, i) => {
      const remainder = parts.toSpliced(i, 1).join('').trim();
      return changed(`without part ${i + 1} of ${name}`, remainder.replace(/[,;]$/, ''));
    });
    return [
      { ...request, form: `without ${name}`, headers: request.headers.toSpliced(index, 1) },
      changed(`with ${name} empty`, ''),
      ...(parts.length > 1 ? withoutPart : []),
    ];
  });
}

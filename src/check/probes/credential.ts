import { randomBytes } from 'node:crypto';
import type { CheckRequest, CheckSession, TestLead } from '../session.ts';
import { type Probe, probeGroup, refuses } from '../probe.ts';

// The headers that prove the sender, by the scheme of the session, and requests whose proof is wrong or lacks a part.

/** Whether the credential depends on the body: a token does not. */
export const hasSignature = ({ signer: { scheme } }: CheckSession): boolean => scheme.ignoresBody !== true;

/** Lower-case names of all headers that the scheme sends: the credential, its time and its id. */
function proofHeaders(session: CheckSession): string[] {
  const sample = session.delivery({ lead: { id: 'leads-check', value: {}, madeAt: session.clock.now() } });
  return sample.genuine.map(([name]) => name.toLowerCase());
}

/** Lower-case name of the header that holds the credential itself: the last of several. */
const credentialHeader = (session: CheckSession): string =>
  proofHeaders(session).findLast((name) => session.signer.scheme.credentialHeaders.includes(name)) ?? '';

function credentialsIn(session: CheckSession, headers: CheckRequest['headers']): CheckRequest['headers'] {
  const header = credentialHeader(session);
  return headers.filter(([name]) => name.toLowerCase() === header);
}

const credentialValue = (session: CheckSession, { headers }: CheckRequest): string =>
  credentialsIn(session, headers).at(-1)?.[1] ?? '';

/** A signature in hex or base64; no other part of a scheme's header but an id looks like it. */
const signature = /[A-Za-z0-9+/_-]{20,}={0,2}/g;

/** The signatures that these headers hold, or the token. */
export const credentialTexts = (session: CheckSession, headers: CheckRequest['headers']): string[] =>
  credentialsIn(session, headers).flatMap(([, value]) =>
    hasSignature(session) ? (value.match(signature) ?? []) : [value],
  );

const withChangedHeaders = (
  request: CheckRequest,
  change: (lowerCaseName: string, value: string) => string,
): CheckRequest => ({
  ...request,
  headers: request.headers.map(([name, value]) => [name, change(name.toLowerCase(), value)]),
});

export const withContentType = (request: CheckRequest, type: string): CheckRequest =>
  withChangedHeaders(request, (name, value) => (name === 'content-type' ? type : value));

function withCredential(
  session: CheckSession,
  request: CheckRequest,
  change: (value: string) => string,
): CheckRequest {
  const header = credentialHeader(session);
  return withChangedHeaders(request, (name, value) => (name === header ? change(value) : value));
}

/** Another token, or the header with another signature in the place of the last one: as long, and of letters and digits. */
const otherCredential = (value: string): string =>
  value.replace(/[^=,; ]*=*$/, ({ length }) => randomBytes(length).toString('hex').slice(0, length));

/** A delivery of the lead whose credential is as long as the right one, so that nothing but its characters differs. */
export const forgedDelivery = (session: CheckSession, lead: TestLead): CheckRequest =>
  withCredential(session, session.delivery({ lead }), otherCredential);

function withSignatureOfOtherBody(session: CheckSession, lead: TestLead): CheckRequest {
  const body = JSON.stringify({ ...lead.value, category: otherCredential('changed') });
  return { ...session.delivery({ lead }), headers: session.delivery({ lead, body }).headers };
}

function withoutProof(session: CheckSession, request: CheckRequest): CheckRequest {
  const proof = proofHeaders(session);
  return { ...request, headers: request.headers.filter(([name]) => !proof.includes(name.toLowerCase())) };
}

/** The request without each header of its proof, with each of them empty, and without each part of a signature's header. */
function incompleteForms(session: CheckSession, request: CheckRequest): CheckRequest[] {
  const proof = proofHeaders(session);
  return request.headers.flatMap(([name, value], index) => {
    if (!proof.includes(name.toLowerCase())) return [];
    const changed = (phrase: string, changedValue: string): CheckRequest => ({
      ...request,
      phrase,
      headers: request.headers.with(index, [name, changedValue]),
    });
    const parts = hasSignature(session) ? value.split(/(?<=[,;])/) : [];
    const withoutPart = parts.map((_, i) => {
      const remainder = parts.toSpliced(i, 1).join('').trim();
      return changed(`without part ${i + 1} of ${name}`, remainder.replace(/[,;]$/, ''));
    });
    return [
      { ...request, phrase: `without ${name}`, headers: request.headers.toSpliced(index, 1) },
      changed(`with ${name} empty`, ''),
      ...(parts.length > 1 ? withoutPart : []),
    ];
  });
}

/** A 5xx to a bad credential is a warning: it should be a 4xx, but the receiver accepted nothing. */
const refusesProof = (requestsOf: Parameters<typeof refuses>[0]): Probe['run'] => refuses(requestsOf, 'warn');

export const credentialProbes = probeGroup(
  'credential',
  { rule: '4.2 rule 3', level: 'must', requires: ['credential'] },
  [
    {
      name: 'missing',
      isHarmless: true,
      expected: '4xx without the credential in its header',
      hint: 'verify every request before anything else, whatever its form, and refuse with 401 what lacks a part of the proof',
      run: refusesProof((session) => {
        const request = session.delivery();
        const bare = withoutProof(session, request);
        return [
          ...incompleteForms(session, request),
          { ...bare, phrase: 'without all of them' },
          // Some receivers verify in their parser of JSON alone.
          { ...withContentType(bare, 'text/plain'), phrase: 'without any, as text/plain' },
        ];
      }),
    },
    {
      name: 'wrong',
      isHarmless: true,
      expected: '4xx to a wrong credential',
      hint: 'compare the whole credential, byte for byte, with the one for this body and URL, before the body is parsed; refuse with 401',
      run: refusesProof((session) => [
        { ...forgedDelivery(session, session.newLead()), phrase: 'to a wrong one' },
        ...(hasSignature(session) ? signatureChanges : tokenChanges).flatMap(alteredForm(session)),
        ...(hasSignature(session) ? wrongSignatures(session) : []),
      ]),
    },
    {
      name: 'doubled',
      level: 'should',
      expected: '4xx to a right and a wrong credential in two headers',
      hint: 'refuse a request that has the header twice: a proxy in front may look at the other one',
      run: refusesProof((session) => {
        const request = session.delivery();
        const forged = withCredential(session, request, otherCredential);
        const wrong = credentialsIn(session, forged.headers);
        return [
          { ...request, phrase: 'with the right one first', headers: [...request.headers, ...wrong] },
          { ...request, phrase: 'with the wrong one first', headers: [...wrong, ...request.headers] },
        ];
      }),
    },
  ],
);

/** A way to make a credential that is almost right. */
interface CredentialChange {
  readonly phrase: string;
  readonly apply: (value: string) => string;
  /** Makes the text from the token's variable, so that no curl line shows the token. */
  readonly expression?: string;
}

const tokenChanges: readonly CredentialChange[] = [
  {
    phrase: 'to one without its end',
    apply: (token) => token.slice(0, -1),
    expression: '{LEADS_WEBHOOK_TOKEN%?}',
  },
  { phrase: 'to one with more behind it', apply: (token) => `${token}-x` },
  {
    phrase: 'to one in other letter case',
    apply: swapCase,
    expression: '(printf %s "$LEADS_WEBHOOK_TOKEN" | tr a-zA-Z A-Za-z)',
  },
];

/** The last character of a signature may hold no more than padding; in hex, either case means the same. */
const signatureChanges: readonly CredentialChange[] = [
  { phrase: 'to one without its end', apply: (value) => value.slice(0, -4) },
  { phrase: 'to one with more behind it', apply: (value) => `${value}-x` },
];

function swapCase(text: string): string {
  const swapped = (letter: string): string =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase();
  return text.replace(/[a-z]/gi, swapped);
}

/** The form of a delivery with this change; none where the change leaves nothing, or changes nothing. */
const alteredForm =
  (session: CheckSession) =>
  ({ phrase, apply, expression }: CredentialChange): CheckRequest[] => {
    const genuine = session.delivery();
    const value = credentialValue(session, genuine);
    const text = apply(value);
    if (text === '' || text === value) return [];
    const shellValue = expression === undefined ? undefined : { text, expression };
    return [{ ...withCredential(session, genuine, apply), phrase, shellValue }];
  };

function wrongSignatures(session: CheckSession): CheckRequest[] {
  const lead = session.newLead();
  const target = new URL('/leads-check/other', session.endpoint.url).href;
  return [
    { ...withSignatureOfOtherBody(session, lead), phrase: 'to the signature of another body' },
    ...(session.signer.scheme.signsUrl
      ? [session.delivery({ lead, target, phrase: 'to a signature for another URL' })]
      : []),
  ];
}

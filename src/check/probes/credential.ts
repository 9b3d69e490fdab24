import {
  credentialsIn,
  credentialValue,
  forgedDelivery,
  hasSignature,
  incompleteForms,
  otherCredential,
  withContentType,
  withCredential,
  withSignatureOfOtherBody,
  withoutProof,
} from '../credential.ts';
import { type Probe, probeGroup, refuses } from '../probe.ts';
import type { CheckRequest, CheckSession } from '../session.ts';

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

import { createSecretKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { kindOf } from '../../webhook/crypto/signature.ts';
import type { Key } from '../../webhook/scheme.ts';
import {
  alterCredential,
  credentialHeader,
  credentialTexts,
  type Incomplete,
  incompleteRequests,
  noCredential,
  otherText,
  signatureJoiner,
  signs,
  unsigned,
  withCredential,
  withoutCredential,
  withoutProof,
} from '../credential.ts';
import {
  acknowledges,
  expectAccepted,
  expectRefused,
  type Finding,
  isAcknowledged,
  type Probe,
  probeGroup,
  refuses,
  skipped,
  worstOf,
} from '../probe.ts';
import {
  type CheckRequest,
  type CheckSession,
  deliveryId,
  jsonOf,
  type TestLead,
  withContentType,
} from '../session.ts';

/** To answer a bad credential with an error of the server is not as it should be, and nothing was accepted. */
const refused = (requestOf: Parameters<typeof refuses>[0]): Probe['run'] => refuses(requestOf, 'warn');

const credential = probeGroup(
  'credential',
  { rule: '4.2 rule 3', level: 'must', isHarmless: true, expectsRefusal: true, inapplicable: noCredential },
  [
    {
      name: 'missing',
      expected: '4xx without a credential',
      hint: 'refuse a request without the header with 401',
      run: refused((session) => withoutCredential(session, session.deliveryOf(session.newLead()))),
    },
    {
      name: 'empty',
      expected: '4xx to an empty credential',
      hint: 'an empty header proves nothing: refuse it with 401',
      run: refused((session) => {
        const request = session.deliveryOf(session.newLead());
        const headers = withCredential(session, request.headers, () => '');
        return { ...request, headers, withheld: request.headers };
      }),
    },
    {
      name: 'wrong',
      expected: '4xx to a wrong token, or a signature by another key',
      hint: 'verify the credential before anything else, and refuse with 401 what does not match',
      run: refused(async (session) => {
        const lead = session.newLead();
        const genuine = session.deliveryOf(lead);
        const wrong = signs(session)
          ? session.deliveryOf(lead, { key: await otherKey(session.signer.key) })
          : { ...genuine, headers: alterCredential(session, genuine.headers, otherText) };
        return { ...wrong, withheld: genuine.headers };
      }),
    },
    {
      name: 'truncated',
      expected: '4xx to a credential without its end',
      hint: 'compare the whole credential, not only as much as was sent',
      inapplicable: (session) => noCredential(session) ?? tooShort(session),
      // Four characters of a signature: the last alone may hold no more than padding.
      run: refused(
        altered((text, session) => text.slice(0, signs(session) ? -4 : -1), '${LEADS_WEBHOOK_TOKEN%?}'),
      ),
    },
    {
      name: 'longer',
      expected: '4xx to a credential with more behind it',
      hint: 'compare the whole credential, and decode it strictly: lenient decoders drop what they cannot read',
      run: refused(altered((text) => `${text}-x`, '${LEADS_WEBHOOK_TOKEN}-x')),
    },
    {
      name: 'case',
      expected: '4xx to a credential in other letter case',
      hint: 'compare the bytes of the credential: another letter case is another credential',
      inapplicable: (session) => noCredential(session) ?? caseless(session),
      run: refused(altered(swapCase, `$(printf %s "$LEADS_WEBHOOK_TOKEN" | tr 'a-zA-Z' 'A-Za-z')`)),
    },
  ],
);

const forged = probeGroup(
  'credential',
  { rule: '4.2 rule 3', level: 'must', isHarmless: true, expectsRefusal: true, inapplicable: noCredential },
  [
    {
      name: 'incomplete',
      expected: '4xx without each header of the proof, or a part',
      hint: 'refuse a delivery that lacks one of them: an attacker leaves out whatever turns verification off',
      inapplicable: (session) =>
        noCredential(session) ??
        (incompleteRequests(session, session.deliveryOf(unsent)).length === 0
          ? `the credential of the scheme '${session.signer.scheme.name}' is one value`
          : undefined),
      run: (session) =>
        refusesEach(session, incompleteRequests(session, session.deliveryOf(session.newLead()))),
    },
    {
      name: 'bypass',
      expected: '4xx without a credential in any form of request',
      hint: 'verify before anything else, for every request: not in a parser that runs for some of them alone',
      run: unlessOpen((session) => {
        const request = withoutProof(session, session.deliveryOf(session.newLead()));
        const origin = ['x-forwarded-for', 'x-real-ip', 'x-client-ip'].map(
          (name) => [name, '127.0.0.1'] as const,
        );
        return refusesEach(session, [
          { what: 'as PUT', request: { ...request, method: 'PUT' } },
          { what: 'as text/plain', request: withContentType(request, 'text/plain') },
          { what: 'as a form', request: withContentType(request, 'application/x-www-form-urlencoded') },
          { what: 'in chunks', request: { ...request, isChunked: true } },
          { what: 'as if from this host', request: { ...request, headers: [...request.headers, ...origin] } },
        ]);
      }),
    },
    {
      name: 'other-header',
      expected: '4xx to the credential in another header',
      hint: 'read the credential from the one header that is agreed on',
      run: unlessOpen(
        refused((session) => {
          const request = session.deliveryOf(session.newLead());
          const bare = withoutCredential(session, request);
          const taken = [...session.signer.scheme.credentialHeaders, ...bare.headers.map(([name]) => name)];
          const value = credentialValue(session, request);
          const others = [
            ...otherNames.map((name) => [name, value] as const),
            ['authorization', `Bearer ${value}`] as const,
            ['cookie', `token=${value}`] as const,
          ].filter(([name]) => !taken.some((one) => one.toLowerCase() === name));
          return { ...bare, headers: [...bare.headers, ...others] };
        }),
      ),
    },
    {
      name: 'query',
      expected: '4xx to the credential in the query of the URL',
      hint: 'read the credential from its header alone: URLs are written into logs',
      // A token in a URL may stay in the log of a proxy.
      isHarmless: false,
      run: unlessOpen(
        refused((session) => {
          const request = session.deliveryOf(session.newLead());
          const value = credentialValue(session, request);
          const names = [credentialHeader(session), ...otherNames, 'access_token', 'secret'];
          const queryOf = (text: string): string => names.map((name) => `${name}=${text}`).join('&');
          return {
            ...withoutCredential(session, request),
            query: queryOf(encodeURIComponent(value)),
            shellQuery: signs(session) ? undefined : queryOf('$LEADS_WEBHOOK_TOKEN'),
          };
        }),
      ),
    },
  ],
);

/** A receiver that takes a request without any proof says nothing about the ways around it. */
function unlessOpen(run: Probe['run']): Probe['run'] {
  return async (session) => {
    const bare = withoutProof(session, session.deliveryOf(session.newLead()));
    return isAcknowledged(await session.send(bare))
      ? skipped('a delivery without any credential is acknowledged')
      : run(session);
  };
}

/** Names under which programs look for a credential. */
const otherNames = ['token', 'key', 'signature', 'x-token', 'x-api-key', 'x-auth-token', 'x-signature'];

/** For a question that sends nothing. */
const unsent: TestLead = { id: 'leads-check', value: {} };

const credentialValue = (session: CheckSession, { headers }: CheckRequest): string =>
  headers.findLast(([name]) => name.toLowerCase() === credentialHeader(session))?.[1] ?? '';

/** Sends them at the same time; the worst answer, and to what it was given. */
async function refusesEach(session: CheckSession, variants: readonly Incomplete[]): Promise<Finding> {
  const findings = await Promise.all(
    variants.map(async ({ what, request }) => {
      const finding = expectRefused(await session.send(request), 'warn');
      return { ...finding, seen: `${finding.seen} ${what}` };
    }),
  );
  const [first, ...rest] = findings;
  if (first === undefined) throw new TypeError('no request was made');
  const worst = worstOf([first, ...rest]);
  return worst.result === 'pass' ? { ...worst, seen: `each of ${findings.length} was refused` } : worst;
}

const doubled = probeGroup('credential', { rule: '4.2 rule 3', level: 'should' }, [
  {
    name: 'doubled',
    expected: '4xx to a right and a wrong credential in two headers',
    hint: 'refuse a request that has the header twice: a proxy in front may look at the other one',
    expectsRefusal: true,
    inapplicable: noCredential,
    async run(session) {
      const name = credentialHeader(session);
      const both = async (isRightFirst: boolean) => {
        const request = session.deliveryOf(session.newLead());
        const wrong = alterCredential(session, request.headers, otherText).filter(
          ([own]) => own.toLowerCase() === name,
        );
        const headers = isRightFirst ? [...request.headers, ...wrong] : [...wrong, ...request.headers];
        return expectRefused(await session.send({ ...request, headers }), 'warn');
      };
      return worstOf([await both(true), await both(false)]);
    },
  },
]);

/** A delivery whose token is changed, `shell` being the expression for it: a token without its end is almost the token. */
function altered(alter: (text: string, session: CheckSession) => string, shell: string) {
  return (session: CheckSession): CheckRequest => {
    const request = session.deliveryOf(session.newLead());
    const headers = alterCredential(session, request.headers, (text) => alter(text, session));
    const shellValues = signs(session) ? undefined : { [credentialHeader(session)]: shell };
    return { ...request, headers, withheld: request.headers, shellValues };
  };
}

function swapCase(text: string): string {
  return text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );
}

function tooShort(session: CheckSession): string | undefined {
  const [text = ''] = ownCredential(session);
  return text.length < 2 ? 'the token has one character' : undefined;
}

function caseless(session: CheckSession): string | undefined {
  const texts = ownCredential(session);
  if (!texts.some((text) => /[a-z]/i.test(text))) return 'the token has no letters';
  const isHex = signs(session) && texts.every((text) => /^[0-9a-f]+$/i.test(text));
  return isHex ? 'the signature is hex, which means the same in either case' : undefined;
}

const ownCredential = (session: CheckSession): string[] =>
  credentialTexts(session, session.credential(Buffer.from('{}'), 'msg_leads-check'));

const newPair = promisify(generateKeyPair);

/** A key of the same kind and name that nobody knows. */
async function otherKey(key: Key | undefined): Promise<Key | undefined> {
  return key && { ...key, material: await otherMaterial(kindOf(key.material)) };
}

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

const signature = probeGroup(
  'signature',
  { rule: '4.2 rule 3', level: 'must', isHarmless: true, expectsRefusal: true, inapplicable: unsigned },
  [
    {
      name: 'tampered-body',
      expected: '4xx to a body that was changed after signing',
      hint: 'compute the signature over the raw bytes that came, and compare it before they are parsed',
      run: refused((session) => {
        const lead = session.newLead();
        const body = Buffer.from(JSON.stringify({ ...lead.value, category: 'changed' }));
        const withheld = session.credential(body, deliveryId(lead));
        return { ...session.deliveryOf(lead), body, withheld };
      }),
    },
    {
      name: 'other-body',
      expected: '4xx to the genuine signature of another body',
      hint: 'a signature proves one body: compute it again for each delivery',
      run: refused((session) => {
        const lead = session.newLead();
        const genuine = session.deliveryOf(lead);
        const { headers } = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
        return { ...genuine, headers, withheld: genuine.headers };
      }),
    },
    {
      name: 'other-url',
      level: 'should',
      expected: '4xx to a signature made for another URL',
      hint: 'compare the URL that was signed with the one under which the receiver is known',
      inapplicable: (session) =>
        unsigned(session) ??
        (session.signer.scheme.signsUrl
          ? undefined
          : `the scheme '${session.signer.scheme.name}' does not sign the URL`),
      run: refused((session) => {
        const lead = session.newLead();
        const target = new URL('/leads-check/other', session.endpoint.url).href;
        const withheld = session.credential(jsonOf(lead), deliveryId(lead));
        return { ...session.deliveryOf(lead, { target }), withheld };
      }),
    },
  ],
);

/** A rotation of keys sends a signature by each of them. */
const rotation = probeGroup('signature', { rule: '4.2 rule 3', level: 'should', inapplicable: unsigned }, [
  {
    name: 'second',
    expected: '2xx to two signatures of which the second is right',
    hint: 'compare each signature in the header: while a secret is replaced, the sender signs with both',
    needsAcknowledgement: true,
    run: (session) => judgesTwoSignatures(session, true),
  },
  {
    name: 'both-wrong',
    level: 'must',
    expected: '4xx to two signatures of which none is right',
    hint: 'a delivery is genuine when one of its signatures matches, however many it carries',
    isHarmless: true,
    expectsRefusal: true,
    run: (session) => judgesTwoSignatures(session, false),
  },
]);

async function judgesTwoSignatures(session: CheckSession, isSecondRight: boolean): Promise<Finding> {
  const { key } = session.signer;
  const join = signatureJoiner(session);
  if (join === undefined) return skipped(`the scheme '${session.signer.scheme.name}' sends one signature`);
  const lead = session.newLead();
  const at = session.clock.now();
  const wrong = session.deliveryOf(lead, { at, key: await otherKey(key) });
  const second = session.deliveryOf(lead, { at, key: isSecondRight ? key : await otherKey(key) });
  const both = join(credentialValue(session, wrong), credentialValue(session, second));
  const headers = withCredential(session, wrong.headers, () => both);
  const withheld = session.deliveryOf(lead, { at }).headers;
  const exchange = await session.send({ ...wrong, headers, withheld });
  return isSecondRight ? expectAccepted(exchange) : expectRefused(exchange, 'warn');
}

/** Farther off than any scheme tolerates. */
const farMs = 7 * 86_400_000;
const hourMs = 3_600_000;

const signedSince =
  (offsetMs: number) =>
  (session: CheckSession): CheckRequest =>
    session.deliveryOf(session.newLead(), { at: session.clock.now() + offsetMs });

const untimed = ({ signer: { scheme, key } }: CheckSession): string | undefined =>
  key === undefined || scheme.toleranceMs === undefined
    ? `the scheme '${scheme.name}' sends no time`
    : undefined;

const untimely = probeGroup(
  'time',
  { rule: '4.2 rule 5', level: 'must', isHarmless: true, expectsRefusal: true, inapplicable: untimed },
  [
    {
      name: 'stale',
      expected: '4xx to a delivery that was signed a week ago',
      hint: 'compare the signed time with the clock, and refuse what is older than about five minutes',
      run: refused(signedSince(-farMs)),
    },
    {
      name: 'future',
      expected: '4xx to a delivery signed a week in the future',
      hint: 'compare in both directions: what is signed for next week can be replayed until then',
      run: refused(signedSince(farMs)),
    },
    {
      name: 'window',
      level: 'should',
      expected: '4xx to a delivery that was signed an hour ago',
      hint: 'tolerate about five minutes: what is accepted for longer can be replayed for longer',
      run: refused((session) => {
        const tolerance = session.signer.scheme.toleranceMs ?? 0;
        return signedSince(-Math.max(hourMs, 4 * tolerance))(session);
      }),
    },
    {
      name: 'malformed',
      expected: '4xx to a time that is none',
      hint: 'refuse a time that cannot be read: no comparison with NaN is true, not even the one that refuses',
      run: refused((session) => {
        const lead = session.newLead();
        const at = session.clock.now();
        const genuine = session.deliveryOf(lead, { at });
        const later = session.deliveryOf(lead, { at: at + hourMs });
        const credential = credentialHeader(session);
        // Beside the credential, what differs is the time; in it, a time is covered by the signature.
        const headers = genuine.headers.map(
          ([name, value], i) =>
            [
              name,
              later.headers[i]?.[1] === value || name.toLowerCase() === credential ? value : 'now',
            ] as const,
        );
        return { ...genuine, headers };
      }),
      inapplicable: (session) =>
        untimed(session) ??
        (signs(session) ? `the scheme '${session.signer.scheme.name}' signs its time` : undefined),
    },
  ],
);

const timely = probeGroup('time', { rule: '4.2 rule 5', level: 'should', inapplicable: untimed }, [
  {
    name: 'skew',
    expected: '2xx to a delivery that was signed 30 s ago',
    hint: 'tolerate about five minutes: clocks differ, and deliveries wait',
    needsAcknowledgement: true,
    run: acknowledges((session) => {
      const tolerance = session.signer.scheme.toleranceMs ?? 0;
      return signedSince(-Math.min(30_000, tolerance / 2))(session);
    }),
  },
]);

export const credentialProbes: readonly Probe[] = [
  ...credential,
  ...forged,
  ...doubled,
  ...signature,
  ...rotation,
  ...untimely,
  ...timely,
];

import {
  credentialHeader,
  credentialValue,
  forgedDelivery,
  hasSignature,
  incompleteVariants,
  otherKey,
  otherText,
  sampleTexts,
  signatureSeparator,
  type Variant,
  withAlteredCredential,
  withBothSignatures,
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
import { type CheckRequest, type CheckSession, deliveryId, jsonOf, withContentType } from '../session.ts';

/** A bad credential that is answered with an error of the server is not as it should be, and nothing was accepted. */
const refused = (requestOf: Parameters<typeof refuses>[0]): Probe['run'] => refuses(requestOf, 'warn');

const credential = probeGroup(
  'credential',
  { rule: '4.2 rule 3', level: 'must', isHarmless: true, requires: ['credential'] },
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
      run: refused((session) => withCredential(session, session.deliveryOf(session.newLead()), () => '')),
    },
    {
      name: 'wrong',
      expected: '4xx to a wrong token, or a signature by another key',
      hint: 'verify the credential before anything else, and refuse with 401 what does not match',
      run: refused(async (session) => {
        const lead = session.newLead();
        if (!hasSignature(session)) return forgedDelivery(session, lead);
        const { headers } = session.deliveryOf(lead, { key: await otherKey(session.signer.key) });
        return { ...session.deliveryOf(lead), headers };
      }),
    },
    {
      name: 'truncated',
      expected: '4xx to a credential without its end',
      hint: 'compare the whole credential, not only as much as was sent',
      run: (session) =>
        sampleTexts(session).some((text) => text.length < 2)
          ? skipped('the token has one character')
          : // Four characters of a signature: the last alone may hold no more than padding.
            refusesAltered(
              session,
              (text) => text.slice(0, hasSignature(session) ? -4 : -1),
              '{LEADS_WEBHOOK_TOKEN%?}',
            ),
    },
    {
      name: 'longer',
      expected: '4xx to a credential with more behind it',
      hint: 'compare the whole credential, and decode it strictly: lenient decoders drop what they cannot read',
      run: (session) => refusesAltered(session, (text) => `${text}-x`),
    },
    {
      name: 'case',
      expected: '4xx to a credential in other letter case',
      hint: 'compare the bytes of the credential: another letter case is another credential',
      run(session) {
        const texts = sampleTexts(session);
        if (!texts.some((text) => /[a-z]/i.test(text))) return skipped('the token has no letters');
        return hasSignature(session) && texts.every((text) => /^[0-9a-f]+$/i.test(text))
          ? skipped('the signature is hex, which means the same in either case')
          : refusesAltered(session, swapCase, '(printf %s "$LEADS_WEBHOOK_TOKEN" | tr a-zA-Z A-Za-z)');
      },
    },
    {
      name: 'incomplete',
      expected: '4xx without each header of the proof, or a part',
      hint: 'refuse a delivery that lacks one of them: an attacker leaves out whatever turns verification off',
      run: (session) =>
        refusesEach(session, incompleteVariants(session, session.deliveryOf(session.newLead()))),
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
          { form: 'as PUT', request: { ...request, method: 'PUT' } },
          { form: 'as text/plain', request: withContentType(request, 'text/plain') },
          { form: 'as a form', request: withContentType(request, 'application/x-www-form-urlencoded') },
          { form: 'in chunks', request: { ...request, isChunked: true } },
          { form: 'as if from this host', request: { ...request, headers: [...request.headers, ...origin] } },
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
          const used = [...session.signer.scheme.credentialHeaders, ...bare.headers.map(([name]) => name)];
          const value = credentialValue(session, request);
          const elsewhere = [
            ...otherNames.map((name) => [name, value] as const),
            ['authorization', `Bearer ${value}`] as const,
            ['cookie', `token=${value}`] as const,
          ].filter(([name]) => !used.some((header) => header.toLowerCase() === name));
          return { ...bare, headers: [...bare.headers, ...elsewhere] };
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
          const value = encodeURIComponent(credentialValue(session, request));
          const names = [credentialHeader(session), ...otherNames, 'access_token', 'secret'];
          const query = names.map((name) => `${name}=${value}`).join('&');
          return { ...withoutCredential(session, request), query };
        }),
      ),
    },
    {
      name: 'doubled',
      level: 'should',
      expected: '4xx to a right and a wrong credential in two headers',
      hint: 'refuse a request that has the header twice: a proxy in front may look at the other one',
      isHarmless: false,
      async run(session) {
        const header = credentialHeader(session);
        const sendBoth = async (isRightFirst: boolean): Promise<Finding> => {
          const request = session.deliveryOf(session.newLead());
          const wrong = withAlteredCredential(session, request, otherText).headers.filter(
            ([name]) => name.toLowerCase() === header,
          );
          const headers = isRightFirst ? [...request.headers, ...wrong] : [...wrong, ...request.headers];
          return expectRefused(await session.send({ ...request, headers }), 'warn');
        };
        return worstOf([await sendBoth(true), await sendBoth(false)]);
      },
    },
  ],
);

/** Names under which programs look for a credential. */
const otherNames = ['token', 'key', 'signature', 'x-token', 'x-api-key', 'x-auth-token', 'x-signature'];

/** A receiver that takes a request without any proof says nothing about the ways around it. */
function unlessOpen(run: Probe['run']): Probe['run'] {
  return async (session) => {
    const bare = withoutProof(session, session.deliveryOf(session.newLead()));
    return isAcknowledged(await session.send(bare))
      ? skipped('a delivery without any credential is acknowledged')
      : run(session);
  };
}

/** The `expression` makes the altered token in a shell, behind `$`: no curl line may show a text that is almost the token. */
function refusesAltered(
  session: CheckSession,
  alter: (text: string) => string,
  expression?: string,
): Promise<Finding> | Finding {
  const request = withAlteredCredential(session, session.deliveryOf(session.newLead()), alter);
  const shellValue =
    expression === undefined || hasSignature(session)
      ? undefined
      : { text: credentialValue(session, request), expression };
  return refused(() => ({ ...request, shellValue }))(session);
}

/** Sends them at the same time, and gives the worst answer with the form that got it. */
async function refusesEach(session: CheckSession, variants: readonly Variant[]): Promise<Finding> {
  const findings = await Promise.all(
    variants.map(async ({ form, request }) => {
      const finding = expectRefused(await session.send(request), 'warn');
      return { ...finding, seen: `${finding.seen} ${form}` };
    }),
  );
  const [first, ...further] = findings;
  if (first === undefined)
    return skipped(`the credential of the scheme '${session.signer.scheme.name}' is one value`);
  const worst = worstOf([first, ...further]);
  return worst.result === 'pass' ? { ...worst, seen: `each of ${findings.length} was refused` } : worst;
}

const swapCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

const signature = probeGroup(
  'signature',
  { rule: '4.2 rule 3', level: 'must', isHarmless: true, requires: ['credential', 'signature'] },
  [
    {
      name: 'tampered-body',
      expected: '4xx to a body that was changed after signing',
      hint: 'compute the signature over the raw bytes that came, and compare it before they are parsed',
      run: refused((session) => {
        const lead = session.newLead();
        const body = jsonOf({ ...lead, value: { ...lead.value, category: 'changed' } });
        return { ...session.deliveryOf(lead, { body }), headers: session.deliveryOf(lead).headers };
      }),
    },
    {
      name: 'other-body',
      expected: '4xx to the genuine signature of another body',
      hint: 'a signature proves one body: compute it again for each delivery',
      run: refused((session) => {
        const lead = session.newLead();
        const { headers } = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
        return { ...session.deliveryOf(lead), headers };
      }),
    },
    {
      name: 'other-url',
      level: 'should',
      expected: '4xx to a signature made for another URL',
      hint: 'compare the URL that was signed with the one under which the receiver is known',
      run(session) {
        const { scheme } = session.signer;
        if (!scheme.signsUrl) return skipped(`the scheme '${scheme.name}' does not sign the URL`);
        const lead = session.newLead();
        const target = new URL('/leads-check/other', session.endpoint.url).href;
        const { headers } = session.deliveryOf(lead, { target });
        return refused(() => ({ ...session.deliveryOf(lead), headers }))(session);
      },
    },
    // A rotation of keys sends a signature by each of them.
    {
      name: 'second',
      level: 'should',
      isHarmless: false,
      expected: '2xx to two signatures of which the second is right',
      hint: 'compare each signature in the header: while a secret is replaced, the sender signs with both',
      run: (session) => judgesTwoSignatures(session, true),
    },
    {
      name: 'both-wrong',
      expected: '4xx to two signatures of which none is right',
      hint: 'a delivery is genuine when one of its signatures matches, however many it carries',
      run: (session) => judgesTwoSignatures(session, false),
    },
  ],
);

async function judgesTwoSignatures(session: CheckSession, isSecondRight: boolean): Promise<Finding> {
  const { key, scheme } = session.signer;
  const separator = signatureSeparator(session);
  if (separator === undefined) return skipped(`the scheme '${scheme.name}' sends one signature`);
  const lead = session.newLead();
  const right = session.deliveryOf(lead);
  const wrong = { ...right, headers: session.deliveryOf(lead, { key: await otherKey(key) }).headers };
  const second = isSecondRight ? right : session.deliveryOf(lead, { key: await otherKey(key) });
  const exchange = await session.send(withBothSignatures(session, [wrong, second], separator));
  return isSecondRight ? expectAccepted(exchange) : expectRefused(exchange, 'warn');
}

/** Farther off than any scheme tolerates. */
const farMs = 7 * 86_400_000;
const hourMs = 3_600_000;

const signedSince = (session: CheckSession, offsetMs: number): CheckRequest =>
  session.deliveryOf(session.newLead(), { at: session.clock.now() + offsetMs });

const time = probeGroup('time', { rule: '4.2 rule 5', level: 'must', isHarmless: true, requires: ['time'] }, [
  {
    name: 'stale',
    expected: '4xx to a delivery that was signed a week ago',
    hint: 'compare the signed time with the clock, and refuse what is older than about five minutes',
    run: refused((session) => signedSince(session, -farMs)),
  },
  {
    name: 'future',
    expected: '4xx to a delivery signed a week in the future',
    hint: 'compare in both directions: what is signed for next week can be replayed until then',
    run: refused((session) => signedSince(session, farMs)),
  },
  {
    name: 'window',
    level: 'should',
    expected: '4xx to a delivery that was signed an hour ago',
    hint: 'tolerate about five minutes: what is accepted for longer can be replayed for longer',
    run: refused((session) =>
      signedSince(session, -Math.max(hourMs, 4 * (session.signer.scheme.toleranceMs ?? 0))),
    ),
  },
  {
    name: 'malformed',
    expected: '4xx to a time that is none',
    hint: 'refuse a time that cannot be read: no comparison with NaN is true, not even the one that refuses',
    run: (session) =>
      hasSignature(session)
        ? skipped(`the scheme '${session.signer.scheme.name}' signs its time`)
        : refused(withUnreadableTime)(session),
  },
  {
    name: 'skew',
    level: 'should',
    isHarmless: false,
    expected: '2xx to a delivery that was signed 30 s ago',
    hint: 'tolerate about five minutes: clocks differ, and deliveries wait',
    run: acknowledges((session) =>
      signedSince(session, -Math.min(30_000, (session.signer.scheme.toleranceMs ?? 0) / 2)),
    ),
  },
]);

/** The header that differs between two times of signing, and is not the credential, holds the time. */
function withUnreadableTime(session: CheckSession): CheckRequest {
  const lead = session.newLead();
  const genuine = session.deliveryOf(lead);
  const later = session.deliveryOf(lead, { at: lead.madeAt + hourMs });
  const header = credentialHeader(session);
  const headers = genuine.headers.map(([name, value], i) => {
    const isTime = later.headers[i]?.[1] !== value && name.toLowerCase() !== header;
    return [name, isTime ? 'now' : value] as const;
  });
  return { ...genuine, headers };
}

export const credentialProbes: readonly Probe[] = [...credential, ...signature, ...time];

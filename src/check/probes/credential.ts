import {
  credentialHeader,
  credentialValue,
  forgedDelivery,
  hasSignature,
  incompleteForms,
  otherCredential,
  withBothSignatures,
  withCredential,
  withForeignSignature,
  withoutCredential,
  withoutProof,
} from '../credential.ts';
import { acknowledges, type Probe, probeGroup, refuses } from '../probe.ts';
import { type CheckRequest, type CheckSession, withContentType } from '../session.ts';

/** A 5xx to a bad credential is a warning: it should be a 4xx, but the receiver accepted nothing. */
const refusesProof = (requestsOf: Parameters<typeof refuses>[0]): Probe['run'] => refuses(requestsOf, 'warn');

const credential = probeGroup('credential', { rule: '4.2 rule 3', level: 'must', requires: ['credential'] }, [
  {
    name: 'missing',
    isHarmless: true,
    expected: '4xx without the credential in its header',
    hint: 'verify every request before anything else, whatever its form, and refuse with 401 what lacks a part of the proof',
    run: refusesProof((session) => {
      const request = session.deliveryOf(session.newLead());
      return [...incompleteForms(session, request), ...unprovenForms(session, request)];
    }),
  },
  {
    name: 'wrong',
    isHarmless: true,
    expected: '4xx to a wrong credential',
    hint: 'compare the whole credential, byte for byte, with the one for this body and URL, before the body is parsed; refuse with 401',
    run: refusesProof((session) => [
      { ...forgedDelivery(session, session.newLead()), form: 'to a wrong one' },
      ...alteredForms(session),
      ...(hasSignature(session) ? wrongSignatures(session) : []),
    ]),
  },
  {
    name: 'doubled',
    level: 'should',
    expected: '4xx to a right and a wrong credential in two headers',
    hint: 'refuse a request that has the header twice: a proxy in front may look at the other one',
    run: refusesProof((session) => {
      const request = session.deliveryOf(session.newLead());
      const wrong = withCredential(session, request, otherCredential).headers.filter(
        ([name]) => name.toLowerCase() === credentialHeader(session),
      );
      return [
        { ...request, form: 'with the right one first', headers: [...request.headers, ...wrong] },
        { ...request, form: 'with the wrong one first', headers: [...wrong, ...request.headers] },
      ];
    }),
  },
  // A rotation of keys sends a signature by each of them.
  {
    name: 'second',
    level: 'should',
    expected: '2xx to two signatures of which the second is right',
    hint: 'compare each signature in the header: while a secret is replaced, the sender signs with both',
    run: acknowledges((session) => {
      const lead = session.newLead();
      const wrong = withForeignSignature(session, lead);
      return withBothSignatures(session, wrong, session.deliveryOf(lead)) ?? [];
    }),
  },
]);

/** The request without any proof in the forms that some receivers do not verify, and with the credential elsewhere. */
function unprovenForms(session: CheckSession, genuine: CheckRequest): CheckRequest[] {
  const request = withoutProof(session, genuine);
  const value = credentialValue(session, genuine);
  const thisHost = ['x-forwarded-for', 'x-real-ip', 'x-client-ip'].map(
    (name) => [name, '127.0.0.1'] as const,
  );
  const names = ['token', 'key', 'signature', 'x-token', 'x-api-key', 'x-auth-token', 'x-signature'];
  const bare = withoutCredential(session, genuine);
  const used = [...session.signer.scheme.credentialHeaders, ...bare.headers.map(([name]) => name)];
  const elsewhere = [
    ...names.map((name) => [name, value] as const),
    ['authorization', `Bearer ${value}`] as const,
    ['cookie', `token=${value}`] as const,
  ].filter(([name]) => !used.some((header) => header.toLowerCase() === name));
  const parameters = [credentialHeader(session), ...names, 'access_token', 'secret'];
  const query = parameters.map((name) => `${name}=${encodeURIComponent(value)}`).join('&');
  return [
    { ...request, form: 'without all of them' },
    { ...request, form: 'without any, as PUT', method: 'PUT' },
    { ...withContentType(request, 'text/plain'), form: 'without any, as text/plain' },
    { ...withContentType(request, 'application/x-www-form-urlencoded'), form: 'without any, as a form' },
    { ...request, form: 'without any, in chunks', isChunked: true },
    { ...request, form: 'without any, as if from this host', headers: [...request.headers, ...thisHost] },
    { ...bare, form: 'with it in another header', headers: [...bare.headers, ...elsewhere] },
    // Against production this is not sent: the token in a URL could stay in the log of a proxy.
    ...(session.mayWrite ? [{ ...bare, form: 'with it in the query of the URL', query }] : []),
  ];
}

/** Credentials that are almost right. A shell expression derives each from the token's variable, so no curl line shows the token. */
function alteredForms(session: CheckSession): CheckRequest[] {
  const isSigned = hasSignature(session);
  const altered = (
    form: string,
    alter: (value: string) => string,
    expression?: string,
  ): readonly CheckRequest[] => {
    const genuine = session.deliveryOf(session.newLead());
    const value = credentialValue(session, genuine);
    const text = alter(value);
    if (text === '' || text === value) return [];
    const shellValue = expression === undefined || isSigned ? undefined : { text, expression };
    return [{ ...withCredential(session, genuine, alter), form, shellValue }];
  };
  return [
    // The last character of a signature alone may hold no more than padding.
    ...altered(
      'to one without its end',
      (value) => value.slice(0, isSigned ? -4 : -1),
      '{LEADS_WEBHOOK_TOKEN%?}',
    ),
    ...altered('to one with more behind it', (value) => `${value}-x`),
    // A signature in hex means the same in either case.
    ...(isSigned
      ? []
      : altered(
          'to one in other letter case',
          swapCase,
          '(printf %s "$LEADS_WEBHOOK_TOKEN" | tr a-zA-Z A-Za-z)',
        )),
  ];
}

const swapCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  );

function wrongSignatures(session: CheckSession): CheckRequest[] {
  const lead = session.newLead();
  const target = new URL('/leads-check/other', session.endpoint.url).href;
  const forUrl = { ...session.deliveryOf(lead), headers: session.deliveryOf(lead, { target }).headers };
  const foreign = (): CheckRequest => withForeignSignature(session, lead);
  const both = withBothSignatures(session, foreign(), foreign());
  return [
    { ...foreign(), form: 'to the signature of another body' },
    ...(session.signer.scheme.signsUrl ? [{ ...forUrl, form: 'to a signature for another URL' }] : []),
    ...(both === undefined ? [] : [{ ...both, form: 'to two wrong signatures' }]),
  ];
}

const farMs = 7 * 86_400_000;
const hourMs = 3_600_000;

const signedSince = (session: CheckSession, offsetMs: number): CheckRequest =>
  session.deliveryOf(session.newLead(), { signedAt: session.clock.now() + offsetMs });

const time = probeGroup('time', { rule: '4.2 rule 5', level: 'must', requires: ['time'] }, [
  {
    name: 'far',
    isHarmless: true,
    expected: '4xx to a time that is a week away, or cannot be read',
    hint: 'compare the signed time with the clock in both directions, and refuse what is further off than about five minutes; no comparison with NaN is true',
    run: refusesProof((session) => [
      { ...signedSince(session, -farMs), form: 'to a delivery that was signed a week ago' },
      { ...signedSince(session, farMs), form: 'to a delivery signed a week in the future' },
      // A change to a signed time makes the signature wrong, and then the refusal says nothing about the time.
      ...(hasSignature(session) ? [] : [withUnreadableTime(session)]),
    ]),
  },
  {
    name: 'window',
    level: 'should',
    isHarmless: true,
    expected: '4xx to a delivery that was signed an hour ago',
    hint: 'tolerate about five minutes: what is accepted for longer can be replayed for longer',
    run: refusesProof((session) =>
      // This is far outside the tolerance of the scheme, even if that is more than the usual minutes.
      signedSince(session, -Math.max(hourMs, 4 * (session.signer.scheme.toleranceMs ?? 0))),
    ),
  },
  {
    name: 'skew',
    level: 'should',
    expected: '2xx to a delivery that was signed 30 s ago',
    hint: 'tolerate about five minutes: clocks differ, and deliveries wait',
    run: acknowledges((session) =>
      // This is well within the tolerance of the scheme, even if that is less than a minute.
      signedSince(session, -Math.min(30_000, (session.signer.scheme.toleranceMs ?? 0) / 2)),
    ),
  },
]);

/** The header that differs between two times of signing, and is not the credential, holds the time. */
function withUnreadableTime(session: CheckSession): CheckRequest {
  const lead = session.newLead();
  const genuine = session.deliveryOf(lead);
  const later = session.deliveryOf(lead, { signedAt: lead.madeAt + hourMs });
  const header = credentialHeader(session);
  const headers = genuine.headers.map(([name, value], i) => {
    const isTime = later.headers[i]?.[1] !== value && name.toLowerCase() !== header;
    return [name, isTime ? 'now' : value] as const;
  });
  return { ...genuine, form: "to the time 'now'", headers };
}

export const credentialProbes: readonly Probe[] = [...credential, ...time];

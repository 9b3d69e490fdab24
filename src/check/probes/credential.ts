import { createSecretKey, generateKeyPair, type KeyObject, randomBytes } from 'node:crypto';
import { kindOf } from '../../webhook/crypto/signature.ts';
import type { Key } from '../../webhook/scheme.ts';
import { alterCredential, credentialHeader, credentialTexts, noCredential, signs } from '../credential.ts';
import { expectAccepted, expectRefused, type Probe, worstOf } from '../probe.ts';
import { type CheckRequest, type CheckSession, deliveryId, jsonOf } from '../session.ts';

const ofCredential = {
  rule: '4.2 rule 3',
  level: 'must',
  isHarmless: true,
  expectsRefusal: true,
  inapplicable: noCredential,
} as const;

export const missingCredential: Probe = {
  ...ofCredential,
  name: 'credential.missing',
  expected: '4xx without a credential',
  hint: 'refuse a request without the header with 401',
  async run(session) {
    const request = session.deliveryOf(session.newLead());
    return expectRefused(await session.send(withoutCredential(session, request)), 'warn');
  },
};

export const emptyCredential: Probe = {
  ...ofCredential,
  name: 'credential.empty',
  expected: '4xx to an empty credential',
  hint: 'an empty header proves nothing: refuse it with 401',
  async run(session) {
    const name = credentialHeader(session);
    const request = session.deliveryOf(session.newLead());
    const headers = request.headers.map(
      ([own, value]) => [own, own.toLowerCase() === name ? '' : value] as const,
    );
    return expectRefused(await session.send({ ...request, headers, withheld: request.headers }), 'warn');
  },
};

export function withoutCredential(session: CheckSession, request: CheckRequest): CheckRequest {
  const { credentialHeaders } = session.signer.scheme;
  const headers = request.headers.filter(([name]) => !credentialHeaders.includes(name.toLowerCase()));
  return { ...request, headers, withheld: request.headers };
}

/** A key of the same kind and name that nobody knows. */
async function otherKey(key: Key | undefined): Promise<Key | undefined> {
  return key === undefined ? undefined : { ...key, material: await otherMaterial(key) };
}

function otherMaterial({ material }: Key): Promise<KeyObject> {
  switch (kindOf(material)) {
    case 'ed25519':
      return generated((done) => generateKeyPair('ed25519', undefined, done));
    case 'p256':
      return generated((done) => generateKeyPair('ec', { namedCurve: 'P-256' }, done));
    case 'rsa':
      return generated((done) => generateKeyPair('rsa', { modulusLength: 2048 }, done));
    case 'rsa-pss':
      return generated((done) => generateKeyPair('rsa-pss', { modulusLength: 2048 }, done));
    case 'secret':
    case undefined:
      return Promise.resolve(createSecretKey(randomBytes(32)));
  }
}

type Done = (error: Error | null, publicKey: KeyObject, privateKey: KeyObject) => void;

function generated(start: (done: Done) => void): Promise<KeyObject> {
  return new Promise((resolve, reject) => {
    start((error, _, privateKey) => {
      if (error === null) resolve(privateKey);
      else reject(error);
    });
  });
}

export const wrongCredential: Probe = {
  name: 'credential.wrong',
  rule: '4.2 rule 3',
  level: 'must',
  expected: '4xx to a wrong token, or a signature by another key',
  hint: 'verify the credential before anything else, and refuse with 401 what does not match',
  isHarmless: true,
  expectsRefusal: true,
  inapplicable: noCredential,
  async run(session) {
    const lead = session.newLead();
    const genuine = session.deliveryOf(lead);
    const wrong = signs(session)
      ? session.deliveryOf(lead, { key: await otherKey(session.signer.key) })
      : { ...genuine, headers: alterCredential(session, genuine.headers, otherText) };
    return expectRefused(await session.send({ ...wrong, withheld: genuine.headers }), 'warn');
  },
};

export const doubledCredential: Probe = {
  name: 'credential.doubled',
  rule: '4.2 rule 3',
  level: 'should',
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
};

/** As long as the right one, so that nothing but its characters gives it away. */
const otherText = (text: string): string => randomBytes(text.length).toString('hex').slice(0, text.length);

/** How the token is changed, and the shell expression for it: a token without its last character is almost the token. */
interface Alteration {
  readonly alter: (text: string, session: CheckSession) => string;
  readonly shell: string;
}

function alteredCredential(
  name: string,
  { alter, shell }: Alteration,
  texts: Pick<Probe, 'expected' | 'hint'> & Partial<Pick<Probe, 'inapplicable'>>,
): Probe {
  return {
    inapplicable: noCredential,
    ...texts,
    name: `credential.${name}`,
    rule: '4.2 rule 3',
    level: 'must',
    isHarmless: true,
    expectsRefusal: true,
    async run(session) {
      const request = session.deliveryOf(session.newLead());
      const headers = alterCredential(session, request.headers, (text) => alter(text, session));
      const shellValues = signs(session) ? undefined : { [credentialHeader(session)]: shell };
      const altered = { ...request, headers, withheld: request.headers, shellValues };
      return expectRefused(await session.send(altered), 'warn');
    },
  };
}

export const truncatedCredential = alteredCredential(
  'truncated',
  // Four characters of a signature: the last alone may hold no more than padding.
  {
    alter: (text, session) => text.slice(0, signs(session) ? -4 : -1),
    shell: '${LEADS_WEBHOOK_TOKEN%?}',
  },
  {
    expected: '4xx to a credential without its end',
    hint: 'compare the whole credential, not only as much as was sent',
    inapplicable: (session) => noCredential(session) ?? tooShort(session),
  },
);

export const longerCredential = alteredCredential(
  'longer',
  { alter: (text) => `${text}-x`, shell: '${LEADS_WEBHOOK_TOKEN}-x' },
  {
    expected: '4xx to a credential with more behind it',
    hint: 'compare the whole credential, and decode it strictly: lenient decoders drop what they cannot read',
  },
);

export const caseChangedCredential = alteredCredential(
  'case',
  { alter: swapCase, shell: `$(printf %s "$LEADS_WEBHOOK_TOKEN" | tr 'a-zA-Z' 'A-Za-z')` },
  {
    expected: '4xx to a credential in other letter case',
    hint: 'compare the bytes of the credential: another letter case is another credential',
    inapplicable: (session) => noCredential(session) ?? caseless(session),
  },
);

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

export const unsigned = (session: CheckSession): string | undefined =>
  noCredential(session) ??
  (signs(session) ? undefined : `the scheme '${session.signer.scheme.name}' signs nothing`);

const ofSignature = {
  rule: '4.2 rule 3',
  level: 'must',
  isHarmless: true,
  expectsRefusal: true,
  inapplicable: unsigned,
} as const;

export const tamperedBody: Probe = {
  ...ofSignature,
  name: 'signature.tampered-body',
  expected: '4xx to a body that was changed after signing',
  hint: 'compute the signature over the raw bytes that came, and compare it before they are parsed',
  async run(session) {
    const lead = session.newLead();
    const body = Buffer.from(JSON.stringify({ ...lead.value, category: 'changed' }));
    const genuine = session.deliveryOf(lead);
    const withheld = session.credential(body, deliveryId(lead));
    return expectRefused(await session.send({ ...genuine, body, withheld }), 'warn');
  },
};

export const signatureOfOther: Probe = {
  ...ofSignature,
  name: 'signature.other-body',
  expected: '4xx to the genuine signature of another body',
  hint: 'a signature proves one body: compute it again for each delivery',
  async run(session) {
    const lead = session.newLead();
    const genuine = session.deliveryOf(lead);
    const { headers } = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
    return expectRefused(await session.send({ ...genuine, headers, withheld: genuine.headers }), 'warn');
  },
};

export const signatureOfOtherUrl: Probe = {
  name: 'signature.other-url',
  rule: '4.2 rule 3',
  level: 'should',
  expected: '4xx to a signature made for another URL',
  hint: 'compare the URL that was signed with the one under which the receiver is known',
  isHarmless: true,
  expectsRefusal: true,
  inapplicable: (session) =>
    unsigned(session) ??
    (session.signer.scheme.signsUrl
      ? undefined
      : `the scheme '${session.signer.scheme.name}' does not sign the URL`),
  async run(session) {
    const lead = session.newLead();
    const target = new URL('/leads-check/other', session.endpoint.url).href;
    const withheld = session.credential(jsonOf(lead), deliveryId(lead));
    return expectRefused(await session.send({ ...session.deliveryOf(lead, { target }), withheld }), 'warn');
  },
};

/** Farther off than any scheme tolerates. */
const farMs = 7 * 86_400_000;

const untimed = ({ signer: { scheme, key } }: CheckSession): string | undefined =>
  key === undefined || scheme.toleranceMs === undefined
    ? `the scheme '${scheme.name}' signs no time`
    : undefined;

function wrongTime(name: string, offsetMs: number, texts: Pick<Probe, 'expected' | 'hint'>): Probe {
  return {
    ...texts,
    name: `time.${name}`,
    rule: '4.2 rule 5',
    level: 'must',
    isHarmless: true,
    expectsRefusal: true,
    inapplicable: untimed,
    async run(session) {
      const at = session.clock.now() + offsetMs;
      return expectRefused(await session.send(session.deliveryOf(session.newLead(), { at })), 'warn');
    },
  };
}

export const staleTime = wrongTime('stale', -farMs, {
  expected: '4xx to a delivery that was signed a week ago',
  hint: 'compare the signed time with the clock, and refuse what is older than about five minutes',
});

export const futureTime = wrongTime('future', farMs, {
  expected: '4xx to a delivery signed a week in the future',
  hint: 'compare in both directions: what is signed for next week can be replayed until then',
});

export const skewedTime: Probe = {
  name: 'time.skew',
  rule: '4.2 rule 5',
  level: 'should',
  expected: '2xx to a delivery that was signed 30 s ago',
  hint: 'tolerate about five minutes: clocks differ, and deliveries wait',
  needsAcknowledgement: true,
  inapplicable: untimed,
  async run(session) {
    const tolerance = session.signer.scheme.toleranceMs ?? 0;
    const at = session.clock.now() - Math.min(30_000, tolerance / 2);
    return expectAccepted(await session.send(session.deliveryOf(session.newLead(), { at })));
  },
};

import { randomBytes } from 'node:crypto';
import { expectRefused } from '../judge-answer.ts';
import { type Probe, worstOf } from '../check-probe.ts';
import { alterCredential, credentialHeader, noCredential, signs } from './credential-text.ts';
import { otherKey } from './other-key.ts';

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

import { noCredential, signs } from '../credential/credential-text.ts';
import { expectRefused } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import { type CheckSession, deliveryId } from '../session.ts';
import { jsonOf } from '../test-lead.ts';

export const unsigned = (session: CheckSession): string | undefined =>
  noCredential(session) ??
  (signs(session) ? undefined : `the scheme '${session.signer.scheme.name}' signs nothing`);

const common = {
  rule: '4.2 rule 3',
  level: 'must',
  isHarmless: true,
  expectsRefusal: true,
  inapplicable: unsigned,
} as const;

export const tamperedBody: Probe = {
  ...common,
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
  ...common,
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

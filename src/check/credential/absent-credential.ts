import { expectRefused } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import type { CheckRequest, CheckSession } from '../session.ts';
import { credentialHeader, noCredential } from './credential-text.ts';

const common = {
  rule: '4.2 rule 3',
  level: 'must',
  isHarmless: true,
  expectsRefusal: true,
  inapplicable: noCredential,
} as const;

export const missingCredential: Probe = {
  ...common,
  name: 'credential.missing',
  expected: '4xx without a credential',
  hint: 'refuse a request without the header with 401',
  async run(session) {
    const request = session.deliveryOf(session.newLead());
    return expectRefused(await session.send(withoutCredential(session, request)), 'warn');
  },
};

export const emptyCredential: Probe = {
  ...common,
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

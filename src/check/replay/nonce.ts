import { canForge } from '../../sender/forge-request.ts';
import { expectAccepted, expectRefused } from '../judge-answer.ts';
import { type Finding, type Probe, worstOf } from '../check-probe.ts';
import { type CheckSession, deliveryId } from '../session.ts';
import type { TestLead } from '../test-lead.ts';

const withoutNonce = ({ signer }: CheckSession): string | undefined =>
  signer.key === undefined || !canForge(signer, 'reusedNonce')
    ? `the scheme '${signer.scheme.name}' has no nonce`
    : undefined;

const common = {
  rule: '4.2 rule 5',
  level: 'must',
  needsAcknowledgement: true,
  inapplicable: withoutNonce,
} as const;

/** Judges what comes after a first delivery; where that one is not taken, nothing of it can be judged. */
const afterFirst =
  (judge: (session: CheckSession, lead: TestLead) => Promise<Finding>): Probe['run'] =>
  async (session) => {
    const lead = session.newLead();
    const first = expectAccepted(await session.send(session.deliveryOf(lead)));
    if (first.result === 'pass') return judge(session, lead);
    return { ...first, result: 'warn', seen: `the first delivery was not acknowledged: ${first.seen}` };
  };

export const reusedNonce: Probe = {
  ...common,
  name: 'replay.nonce',
  expected: '4xx to a nonce that came with another lead',
  hint: 'keep the ids of deliveries as long as the tolerance of their time, and refuse one with another body',
  run: afterFirst(async (session, lead) => {
    const other = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
    return expectRefused(await session.send(other), 'warn');
  }),
};

export const honestRetry: Probe = {
  ...common,
  name: 'replay.retry',
  expected: '2xx to the same delivery again, as the service repeats it',
  hint: 'acknowledge a delivery that is known: the answer to the first one may have been lost',
  run: afterFirst(async (session, lead) =>
    worstOf([
      // A retry is signed anew, and a repeated request is the same to the byte.
      expectAccepted(await session.send(session.deliveryOf(lead, { at: session.clock.now() + 1000 }))),
      expectAccepted(await session.send(session.deliveryOf(lead))),
    ]),
  ),
};

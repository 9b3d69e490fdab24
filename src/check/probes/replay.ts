import {
  acknowledges,
  expectAccepted,
  expectRefused,
  type Finding,
  type Probe,
  probeGroup,
  refuses,
  worstOf,
} from '../probe.ts';
import { type CheckRequest, type CheckSession, deliveryId, type TestLead } from '../session.ts';

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

/** Far outside the tolerance of the scheme, even if that is more than the usual minutes. */
const staleMs = (toleranceMs = 0): number => Math.max(hourMs, 4 * toleranceMs);

/** Well within the tolerance of the scheme, even if that is less than a minute. */
const skewMs = (toleranceMs = 0): number => Math.min(30_000, toleranceMs / 2);

const signedSince = (session: CheckSession, offsetMs: number, phrase?: string): CheckRequest => ({
  ...session.delivery({ signedAt: session.clock.now() + offsetMs }),
  phrase,
});

export const timeProbes = probeGroup('time', { rule: '4.2 rule 5', level: 'must', requires: ['time'] }, [
  {
    name: 'far',
    isHarmless: true,
    expected: '4xx to a time that is a week away',
    hint: 'compare the signed time with the clock in both directions, and refuse what is further off than about five minutes',
    run: refuses(
      (session) => [
        signedSince(session, -weekMs, 'to a delivery that was signed a week ago'),
        signedSince(session, weekMs, 'to a delivery signed a week in the future'),
      ],
      'warn',
    ),
  },
  {
    name: 'window',
    level: 'should',
    isHarmless: true,
    expected: '4xx to a delivery that was signed an hour ago',
    hint: 'tolerate about five minutes: what is accepted for longer can be replayed for longer',
    run: refuses((session) => signedSince(session, -staleMs(session.signer.scheme.toleranceMs)), 'warn'),
  },
  {
    name: 'skew',
    level: 'should',
    expected: '2xx to a delivery that was signed 30 s ago',
    hint: 'tolerate about five minutes: clocks differ, and deliveries wait',
    run: acknowledges((session) => signedSince(session, -skewMs(session.signer.scheme.toleranceMs))),
  },
]);

export const replayProbes = probeGroup('replay', { rule: '4.2 rule 5', level: 'must', requires: ['nonce'] }, [
  {
    name: 'nonce',
    expected: '4xx to a nonce that came with another lead',
    hint: 'keep the ids of deliveries as long as the tolerance of their time, and refuse one with another body',
    run: afterFirst(async (session, lead) =>
      expectRefused(await session.send(session.delivery({ id: deliveryId(lead) })), 'warn'),
    ),
  },
  {
    name: 'retry',
    expected: '2xx to the same delivery again, as the service repeats it',
    hint: 'acknowledge a delivery that is known: the answer to the first one may have been lost',
    run: afterFirst(async (session, lead) => {
      const signedAnew = session.delivery({ lead, signedAt: session.clock.now() + 1000 });
      return worstOf([
        expectAccepted(await session.send(signedAnew)),
        expectAccepted(await session.send(session.delivery({ lead }))),
      ]);
    }),
  },
]);

/** Judges the deliveries after a first one; where that one is not acknowledged, nothing of them can be judged. */
export function afterFirst(judge: (session: CheckSession, lead: TestLead) => Promise<Finding>): Probe['run'] {
  return async (session) => {
    const lead = session.newLead();
    const first = expectAccepted(await session.send(session.delivery({ lead })));
    if (first.result === 'pass') return judge(session, lead);
    return { ...first, seen: `the first delivery was not acknowledged: ${first.seen}` };
  };
}

import { expectAccepted, expectRefused } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';

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

import { formatDuration } from '../../time/duration.ts';
import { skipped, type Probe } from '../check-probe.ts';
import { isAcknowledged } from '../delivery/valid-delivery.ts';

/** Usual services wait 10 to 30 s; milliseconds. */
const slowMs = 10_000;
const tooSlowMs = 20_000;

export const acknowledgementTime: Probe = {
  name: 'health.time',
  rule: '4.2 rule 2',
  level: 'should',
  expected: 'an acknowledgement within 10 s',
  hint: 'store the lead, answer 200, and do the rest of the work after that',
  stage: 'last',
  needsAcknowledgement: true,
  run(session) {
    // The time in which the body was being sent is not the receiver's.
    const taken = session.exchanges.filter(
      (one) => isAcknowledged(one) && one.request.sentWithinMs === undefined,
    );
    const [slowest] = taken.toSorted((a, b) => b.answer.ms - a.answer.ms);
    if (slowest === undefined) return Promise.resolve(skipped('nothing was acknowledged'));
    const { ms } = slowest.answer;
    const result = ms > tooSlowMs ? 'fail' : ms > slowMs ? 'warn' : 'pass';
    const seen = `the slowest of ${taken.length} took ${formatDuration(ms)}`;
    return Promise.resolve({ result, seen, exchange: slowest });
  },
};

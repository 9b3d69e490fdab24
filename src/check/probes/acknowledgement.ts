import { formatDuration } from '../../time/time-text.ts';
import { isCutOff } from '../exchange.ts';
import { acknowledges, expectAccepted, type Probe, probeGroup, skipped } from '../probe.ts';
import { type CheckSession, type Exchange, isAcknowledged } from '../session.ts';

/** Most other probes say something only about a receiver that passes this one. */
export const validDelivery: Probe = {
  name: 'delivery.valid',
  rule: '4.2 rule 2',
  level: 'must',
  expected: '200 to a genuine lead',
  hint: 'answer 200 at the URL itself: nothing else acknowledges, and redirects are not followed',
  async run(session) {
    const exchange = await session.send(session.delivery());
    const finding = expectAccepted(exchange);
    if (exchange.answer.status === 429) return finding;
    const is200 = finding.result === 'pass' && exchange.answer.status === 200;
    return { ...finding, result: is200 ? 'pass' : 'fail', hint: adviceFor(exchange, session) };
  },
};

function adviceFor({ answer }: Exchange, { signer, endpoint }: CheckSession): string | undefined {
  // A TLS port closes a connection on which it receives plain HTTP.
  if (isCutOff(answer) && !endpoint.isSecure) return 'does it speak HTTPS? Then the URL begins with https://';
  const { status = 0 } = answer;
  if ([401, 403].includes(status)) {
    return signer.key === undefined
      ? 'this delivery carries no credential: give --token, or --scheme and --secret'
      : 'check that both sides use the same scheme and secret, and that the clocks agree';
  }
  return [404, 405].includes(status) ? 'check the path of the URL' : undefined;
}

/** Usual services wait 10 to 30 s; milliseconds. */
const slowMs = 10_000;
const tooSlowMs = 20_000;

/** After all other probes: the receiver still acknowledges, and never took too long for it. */
export const healthProbes = probeGroup('health', { rule: '4.2 rule 2', level: 'must', runsLast: true }, [
  {
    name: 'alive',
    expected: '200 to a genuine lead, after all of this',
    hint: 'no request may stop the receiver: look in its log for the error that ended it',
    run: acknowledges((session) => session.delivery()),
  },
  {
    name: 'time',
    level: 'should',
    expected: 'an acknowledgement within 10 s',
    hint: 'store the lead, answer 200, and do the rest of the work after that',
    run({ exchanges }) {
      const acknowledged = exchanges.filter(isAcknowledged);
      const [slowest] = acknowledged.toSorted((a, b) => b.answer.ms - a.answer.ms);
      if (slowest === undefined) return skipped('nothing was acknowledged');
      const { ms } = slowest.answer;
      const late = ms >= tooSlowMs ? 'fail' : 'warn';
      return {
        result: ms > slowMs ? late : 'pass',
        seen: `the slowest of ${acknowledged.length} took ${formatDuration(ms)}`,
        exchange: slowest,
      };
    },
  },
]);

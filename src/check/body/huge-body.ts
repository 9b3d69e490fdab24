import { describeAnswer, expectRefused } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import { isCutOff } from '../wire/answer.ts';

/** Far beyond a lead, and quickly sent. */
const megabytes = 8;

const shellBody = `printf '{"padding":"%s"}' "$(head -c ${megabytes << 20} /dev/zero | tr '\\0' x)"`;

export const hugeBody: Probe = {
  name: 'body.huge',
  rule: '4.2 rule 2',
  level: 'should',
  expected: `4xx to a body of ${megabytes} MiB`,
  hint: 'bound the size of a body, and answer 413 as soon as it is exceeded: a lead has a few hundred bytes',
  stage: 'alone',
  needsAcknowledgement: true,
  async run(session) {
    const body = Buffer.from(`{"padding":"${'x'.repeat(megabytes << 20)}"}`);
    const exchange = await session.send({ ...session.deliveryOfBody(body), shellBody });
    // To end the connection without reading on is a way of refusing as well.
    return isCutOff(exchange.answer)
      ? { result: 'pass', seen: describeAnswer(exchange.answer), exchange }
      : expectRefused(exchange);
  },
};

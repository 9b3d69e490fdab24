import { describeAnswer } from '../judge-answer.ts';
import { type Finding, type Probe, worstOf } from '../check-probe.ts';
import type { CheckSession } from '../session.ts';
import { isCutOff } from '../wire/answer.ts';
import { rawExchange } from '../wire/raw-exchange.ts';

export const malformedRequest: Probe = {
  name: 'protocol.malformed',
  rule: '4.2 rule 1',
  level: 'should',
  expected: '4xx, or the end of the connection, to what is not HTTP',
  hint: 'leave the parsing of requests to the HTTP server, and let it refuse what it cannot read',
  isHarmless: true,
  stage: 'alone',
  inapplicable: ({ endpoint }) =>
    endpoint.proxy === undefined ? undefined : 'the receiver is reached through a proxy',
  async run(session) {
    const { url } = session.endpoint;
    const start = `POST ${url.pathname} HTTP/1.1\r\nHost: ${url.host}\r\n`;
    return worstOf([
      await judged(session, `${start}a line without a colon\r\n\r\n`),
      await judged(session, `${start}Content-Type: application/json\r\nContent-Length: many\r\n\r\n{}`),
      await judged(session, '\x16\x03 leads-check\r\n\r\n'),
    ]);
  },
};

/** None of them carries a credential or a lead. */
async function judged(session: CheckSession, bytes: string): Promise<Finding> {
  const answer = await rawExchange(session.endpoint, bytes, session.wire);
  const isRefused = answer.answered ? answer.status >= 300 && answer.status < 500 : isCutOff(answer);
  return { result: isRefused ? 'pass' : 'fail', seen: describeAnswer(answer) };
}

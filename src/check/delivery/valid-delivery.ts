import { expectAccepted } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import type { CheckSession, Exchange } from '../session.ts';
import { isCutOff } from '../wire/answer.ts';

export const validDelivery: Probe = {
  name: 'delivery.valid',
  rule: '4.2 rule 2',
  level: 'must',
  expected: '200 to a genuine lead',
  hint: 'nothing but 200 acknowledges: the service delivers again, or gives up',
  stage: 'first',
  async run(session) {
    const exchange = await session.send(session.deliveryOf(session.newLead()));
    const finding = expectAccepted(exchange);
    const { answer } = exchange;
    if (finding.result === 'warn') return finding;
    if (!answer.answered) return isCutOff(answer) ? { ...finding, hint: otherProtocol(session) } : finding;
    const isAcknowledged = answer.status === 200 && answer.isWhole;
    return { ...finding, result: isAcknowledged ? 'pass' : 'fail', hint: adviceFor(answer.status, session) };
  },
};

/** A TLS port closes a connection on which it receives plain HTTP. */
const otherProtocol = ({ endpoint: { url } }: CheckSession): string | undefined =>
  url.protocol === 'http:' ? 'does it speak HTTPS? Then the URL begins with https://' : undefined;

function adviceFor(status: number, { signer }: CheckSession): string | undefined {
  if (status === 401 || status === 403) {
    return signer.key === undefined
      ? 'this delivery carries no credential: give --token, or --scheme and --secret'
      : 'check that both sides use the same scheme and secret, and that the clocks agree';
  }
  if (status === 404 || status === 405) return 'check the path of the URL';
  if (status >= 300 && status < 400) return 'redirects are not followed: answer 200 at the URL itself';
  return undefined;
}

/** Whether the run has seen the receiver take a genuine delivery. */
export const isAcknowledged = ({ answer }: Exchange): boolean =>
  answer.answered && answer.status >= 200 && answer.status < 300;

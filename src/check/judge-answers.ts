import { formatDuration } from '../time/time-text.ts';
import { type Answer, isCutOff } from './exchange.ts';
import { type Finding, type Probe, worstOf } from './probe.ts';
import { type CheckRequest, type CheckSession, type Exchange, isAcknowledged } from './session.ts';

type RequestsOf = (session: CheckSession) => CheckRequest | readonly CheckRequest[];

/** Judges the answers to a probe that must be acknowledged: 2xx to every request. */
export const acknowledges = (requestsOf: RequestsOf): Probe['run'] => judgesEach(requestsOf, expectAccepted);

/** Judges the answers to a probe that must be refused: 4xx to every request. `errors` is how a 5xx counts. */
export const refuses = (requestsOf: RequestsOf, errors?: 'fail' | 'warn'): Probe['run'] =>
  judgesEach(requestsOf, (exchange) => expectRefused(exchange, errors));

/** All forms are sent at the same time; the finding is that of the worst answer, and names its form. */
const judgesEach =
  (requestsOf: RequestsOf, judge: (exchange: Exchange) => Finding): Probe['run'] =>
  async (session) => {
    const findings = [requestsOf(session)].flat().map(async (request) => {
      const finding = judge(await session.send(request));
      return request.form === undefined ? finding : { ...finding, seen: `${finding.seen} ${request.form}` };
    });
    return worstOf(await Promise.all(findings));
  };

function describeAnswer({ status, error = '', isWhole, ms }: Answer): string {
  if (status !== undefined)
    return `it answered ${status}${isWhole ? '' : ', and the answer did not end in time'}`;
  if (error === 'timeout' || error === 'aborted') return `no answer within ${formatDuration(ms)}`;
  if (error === 'ECONNREFUSED') return 'nothing listens there any more (ECONNREFUSED)';
  if (error.startsWith('HPE_')) return `its answer is not HTTP that can be read (${error})`;
  if (/^(ECONNRESET|EPIPE)$/.test(error)) return `the connection was closed without an answer (${error})`;
  return `no answer (${error})`;
}

/** After 429 the receiver has said nothing about this request. */
const rateLimited = (exchange: Exchange): Finding => ({
  result: 'fail',
  seen: 'it answered 429, so nothing is proved',
  exchange,
  hint: 'raise the rate limit for this run, or run fewer probes with --only',
});

export function expectAccepted(exchange: Exchange): Finding {
  const { answer } = exchange;
  if (answer.status === 429) return rateLimited(exchange);
  const isAccepted = isAcknowledged(exchange) && answer.isWhole;
  return { result: isAccepted ? 'pass' : 'fail', seen: describeAnswer(answer), exchange };
}

/**
 * Judges a request that must be refused with a status of 4xx. A refusal in another form is a warning, since nothing was
 * accepted; `errors` is how a 5xx counts.
 */
export function expectRefused(exchange: Exchange, errors: 'fail' | 'warn' = 'fail'): Finding {
  const { answer } = exchange;
  if (answer.status === 429) return rateLimited(exchange);
  return { result: resultOfRefusal(answer, errors), seen: describeAnswer(answer), exchange };
}

function resultOfRefusal(answer: Answer, errors: 'fail' | 'warn'): Finding['result'] {
  const { status, isWhole } = answer;
  if (status === undefined) return isCutOff(answer) ? 'warn' : 'fail';
  if (!isWhole) return 'fail';
  if (status >= 500) return errors;
  if (status >= 400) return 'pass';
  return status >= 300 ? 'warn' : 'fail';
}

import { formatDuration } from '../time/duration.ts';
import type { Finding } from './check-probe.ts';
import type { Exchange } from './session.ts';
import { type Answer, isCutOff } from './wire/answer.ts';

/** What came back, in a few words: `it answered 401`. */
export function describeAnswer(answer: Answer): string {
  if (answer.answered) {
    const end = answer.isWhole ? '' : ', and the answer did not end in time';
    return `it answered ${answer.status}${end}`;
  }
  if (answer.code === 'timeout' || answer.code === 'aborted')
    return `no answer within ${formatDuration(answer.ms)}`;
  if (answer.code === 'ECONNREFUSED') return 'nothing listens there any more (ECONNREFUSED)';
  if (answer.code.startsWith('HPE_')) return `its answer is not HTTP that can be read (${answer.code})`;
  return isCutOff(answer)
    ? `the connection was closed without an answer (${answer.code})`
    : `no answer (${answer.code})`;
}

/** Too many requests: the receiver says nothing about this one. */
const limited = (exchange: Exchange): Finding => ({
  result: 'warn',
  seen: 'it answered 429, so nothing is proved',
  exchange,
  hint: 'raise the rate limit for this run, or run fewer probes with --only',
});

/** A delivery that must be acknowledged. */
export function expectAccepted(exchange: Exchange): Finding {
  const { answer } = exchange;
  const seen = describeAnswer(answer);
  if (!answer.answered) return { result: 'fail', seen, exchange };
  if (answer.status === 429) return limited(exchange);
  const isTaken = answer.status >= 200 && answer.status < 300 && answer.isWhole;
  return { result: isTaken ? 'pass' : 'fail', seen, exchange };
}

/**
 * A request that must be refused with a status of 4xx. To be refused in another way is not as it should be, and yet
 * nothing was accepted; `errors`: what an error of the server counts as.
 */
export function expectRefused(exchange: Exchange, errors: 'fail' | 'warn' = 'fail'): Finding {
  const { answer } = exchange;
  const seen = describeAnswer(answer);
  if (!answer.answered) return { result: isCutOff(answer) ? 'warn' : 'fail', seen, exchange };
  const { status } = answer;
  if (status === 429) return limited(exchange);
  if (!answer.isWhole) return { result: 'fail', seen, exchange };
  if (status >= 400 && status < 500) return { result: 'pass', seen, exchange };
  if (status >= 500) return { result: errors, seen, exchange };
  return { result: status >= 300 ? 'warn' : 'fail', seen, exchange };
}

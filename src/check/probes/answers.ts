import { formatDuration } from '../../time/time-text.ts';
import { hasSignature } from '../credential.ts';
import { secretTexts, signatureTexts } from '../disclosure.ts';
import { acknowledges, type Finding, isAcknowledged, type Probe, probeGroup, skipped } from '../probe.ts';
import type { CheckSession, Exchange } from '../session.ts';

/** Frames of stack traces as the usual platforms print them; HTML may have escaped them. */
const frames = [
  /\bat (?:async )?[\w$.<>[\] ]{1,100} \((?:file:|node:|\/|[A-Z]:\\|<anonymous>|&lt;anonymous&gt;)/,
  /\bat (?:file:\/\/|node:internal|\/)[^\s()]{1,300}:\d+:\d+/,
  /Traceback \(most recent call last\)/,
  /\bat [\w$.]{1,200}\([\w$]{1,100}\.(?:java|kt|scala):\d+\)/,
  /#\d+ [^\s]{1,300}\.php\(\d+\)/,
  /\bat [\w.`<>]{1,200}\(.{0,300}\) in .{1,300}\.cs:line \d+/,
  /goroutine \d+ \[running\]/,
  /\.rb:\d+:in [`']/,
];

/** They search the answers to all other probes. */
const leaks = probeGroup(
  'leak',
  { rule: '4.2 rule 3', level: 'should', isHarmless: true, isIndependent: true, phase: 'review' },
  [
    {
      name: 'secret',
      level: 'must',
      expected: 'no answer holds the token, the secret, or the right signature',
      hint: 'say only that the credential does not match: whoever sends a request would learn the secret, or what to send',
      requires: ['credential'],
      run(session) {
        const secrets = secretTexts(session);
        return searchAnswers(session, (answer, { request: { genuine, headers } }) => {
          if (secrets.some((text) => answer.includes(text))) return true;
          if (!hasSignature(session)) return false;
          // A signature that was sent may come back.
          const sent = signatureTexts(session, headers);
          return signatureTexts(session, genuine).some(
            (text) => !sent.includes(text) && answer.includes(text),
          );
        });
      },
    },
    {
      name: 'stack-trace',
      expected: 'no answer holds a stack trace',
      hint: 'answer errors with a short text in production (Express: NODE_ENV=production), and log the trace',
      run: (session) => searchAnswers(session, (answer) => frames.some((frame) => frame.test(answer))),
    },
  ],
);

/** `isLeak` is given head and body of an answer, one character a byte. */
function searchAnswers(
  session: CheckSession,
  isLeak: (answer: string, exchange: Exchange) => boolean,
): Finding {
  const leak = session.exchanges.find((exchange) => {
    const { answer } = exchange;
    if (!answer.answered) return false;
    const head = answer.headers.map((header) => header.join(': '));
    return isLeak([...head, answer.body.toString('latin1')].join('\n'), exchange);
  });
  return leak === undefined
    ? { result: 'pass', seen: `none of ${session.exchanges.length} answers does` }
    : { result: 'fail', seen: 'an answer does', exchange: leak };
}

/** Usual services wait 10 to 30 s; milliseconds. */
const slowMs = 10_000;
const tooSlowMs = 20_000;

const health = probeGroup('health', { rule: '4.2 rule 2', level: 'must', phase: 'end' }, [
  {
    name: 'alive',
    expected: '200 to a genuine lead, after all of this',
    hint: 'no request may stop the receiver: look in its log for the error that ended it',
    run: acknowledges((session) => session.deliveryOf(session.newLead())),
  },
  {
    name: 'time',
    level: 'should',
    phase: 'review',
    expected: 'an acknowledgement within 10 s',
    hint: 'store the lead, answer 200, and do the rest of the work after that',
    run(session) {
      // The time in which the body was being sent is not the receiver's.
      const acknowledged = session.exchanges.filter(
        (exchange) => isAcknowledged(exchange) && exchange.request.sentWithinMs === undefined,
      );
      const [slowest] = acknowledged.toSorted((a, b) => b.answer.ms - a.answer.ms);
      if (slowest === undefined) return skipped('nothing was acknowledged');
      const { ms } = slowest.answer;
      const result = ms >= tooSlowMs ? 'fail' : ms > slowMs ? 'warn' : 'pass';
      return {
        result,
        seen: `the slowest of ${acknowledged.length} took ${formatDuration(ms)}`,
        exchange: slowest,
      };
    },
  },
]);

export const answerProbes: readonly Probe[] = [...leaks, ...health];

import { formatDuration } from '../../time/duration.ts';
import { noCredential, secretTexts, signatureTexts } from '../credential.ts';
import { expectAccepted, expectRefused, type Finding, type Probe, skipped } from '../probe.ts';
import type { CheckSession, Exchange } from '../session.ts';
import { unsigned, withoutCredential } from './credential.ts';
import { isAcknowledged } from './delivery.ts';

const common = { rule: '4.2 rule 3', level: 'should', stage: 'last', isHarmless: true } as const;

export const leakedSecret: Probe = {
  ...common,
  name: 'leak.secret',
  expected: 'no answer holds the token or secret',
  hint: 'never put the token or secret into an answer: anyone who sends a request would learn it',
  inapplicable: noCredential,
  run: (session) => search(session, () => secretTexts(session)),
};

export const leakedSignature: Probe = {
  ...common,
  name: 'leak.signature',
  expected: 'no answer to a wrong signature holds the right one',
  hint: 'say that the signature does not match, and never show the right one: an attacker could send it',
  inapplicable: (session) =>
    unsigned(session) ??
    (session.signer.key?.material.type === 'secret' ? undefined : 'the receiver has no key that signs'),
  run: (session) => search(session, ({ request: { withheld = [] } }) => signatureTexts(session, withheld)),
};

function search(session: CheckSession, textsOf: (exchange: Exchange) => readonly string[]): Promise<Finding> {
  const found = session.exchanges.find((exchange) => {
    const said = everythingSaid(exchange);
    return textsOf(exchange).some((text) => said.includes(text));
  });
  return Promise.resolve(
    found === undefined
      ? { result: 'pass', seen: `none of ${session.exchanges.length} answers does` }
      : { result: 'fail', seen: 'an answer does', exchange: found },
  );
}

/** Head and body of an answer, one character a byte. */
function everythingSaid({ answer }: Exchange): string {
  if (!answer.answered) return '';
  return [...answer.headers.map((header) => header.join(': ')), answer.body.toString('latin1')].join('\n');
}

/** Frames as the usual platforms print them; HTML may have escaped them. */
const frames = [
  // JavaScript
  /\bat (?:async )?[\w$.<>[\] ]{1,100} \((?:file:|node:|\/|[A-Z]:\\|<anonymous>|&lt;anonymous&gt;)/,
  /\bat (?:file:\/\/|node:internal|\/)[^\s()]{1,300}:\d+:\d+/,
  // Python, Java, PHP, C#, Go, Ruby
  /Traceback \(most recent call last\)/,
  /\bat [\w$.]{1,200}\([\w$]{1,100}\.(?:java|kt|scala):\d+\)/,
  /#\d+ [^\s]{1,300}\.php\(\d+\)/,
  /\bat [\w.`<>]{1,200}\(.{0,300}\) in .{1,300}\.cs:line \d+/,
  /goroutine \d+ \[running\]/,
  /\.rb:\d+:in [`']/,
];

export const stackTrace: Probe = {
  name: 'leak.stack-trace',
  rule: '4.2 rule 3',
  level: 'should',
  expected: 'no answer holds a stack trace',
  hint: 'answer errors with a short text in production (Express: NODE_ENV=production), and log the trace',
  stage: 'last',
  isHarmless: true,
  run(session) {
    const found = session.exchanges.find((exchange) => {
      const said = everythingSaid(exchange);
      return frames.some((frame) => frame.test(said));
    });
    return Promise.resolve(
      found === undefined
        ? { result: 'pass', seen: `none of ${session.exchanges.length} answers does` }
        : { result: 'fail', seen: 'an answer does', exchange: found },
    );
  },
};

export const alive: Probe = {
  name: 'health.alive',
  rule: '4.2 rule 2',
  level: 'must',
  expected: '200 to a genuine lead, after all of this',
  hint: 'no request may stop the receiver: look in its log for the error that ended it',
  stage: 'last',
  needsAcknowledgement: true,
  run: async (session) => expectAccepted(await session.send(session.deliveryOf(session.newLead()))),
};

/** For a supervisor to restart a receiver that crashed, in milliseconds. */
const patienceMs = 3000;
const betweenMs = 250;

/** How a receiver is after a request that may have stopped it; `failing`: a genuine lead is answered with 5xx. */
export type Health = 'alive' | 'restarted' | 'failing' | 'dead';

/**
 * Asks until there is an answer other than 5xx, which a proxy gives for a receiver that is away, for a few seconds;
 * `withLead`: whether it is asked with a genuine one, which it took before.
 */
export async function healthOf(session: CheckSession, withLead: boolean): Promise<Health> {
  const { clock, wire } = session;
  const until = clock.steady() + patienceMs;
  for (let health: Health = 'alive'; ; health = 'restarted') {
    const answer = (await ask(session, withLead)).exchange?.answer;
    const isFailing = withLead && answer?.answered === true && answer.status >= 500;
    if (answer?.answered === true && !isFailing) return health;
    const end = isFailing ? 'failing' : 'dead';
    // A receiver that takes the whole time for one answer is not asked again.
    if (clock.steady() > until || wire.signal.aborted) return end;
    if (!(await slept(clock.sleep(betweenMs, wire.signal)))) return end;
  }
}

/** Whether the whole time passed; it is cut short when the time for the question is up. */
const slept = (sleep: Promise<void>): Promise<boolean> =>
  sleep.then(
    () => true,
    () => false,
  );

async function ask(session: CheckSession, withLead: boolean): Promise<Finding> {
  const request = session.deliveryOf(session.newLead());
  if (withLead) return expectAccepted(await session.send(request));
  return expectRefused(await session.send(withoutCredential(session, request)));
}

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

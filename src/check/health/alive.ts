import { expectAccepted, expectRefused } from '../judge-answer.ts';
import type { Finding, Probe } from '../check-probe.ts';
import { withoutCredential } from '../credential/absent-credential.ts';
import type { CheckSession } from '../session.ts';

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

import {
  acknowledges,
  expectAccepted,
  expectRefused,
  type Finding,
  type Probe,
  probeGroup,
  refuses,
  skipped,
  worstOf,
} from '../probe.ts';
import {
  type CheckRequest,
  type CheckSession,
  deliveryId,
  type Exchange,
  isAcknowledged,
  type TestLead,
} from '../session.ts';
import { forgedDelivery } from './credential.ts';

const hourMs = 3_600_000;
const weekMs = 7 * 24 * hourMs;

/** Far outside the tolerance of the scheme, even if that is more than the usual minutes. */
const staleMs = (toleranceMs = 0): number => Math.max(hourMs, 4 * toleranceMs);

/** Well within the tolerance of the scheme, even if that is less than a minute. */
const skewMs = (toleranceMs = 0): number => Math.min(30_000, toleranceMs / 2);

const signedSince = (session: CheckSession, offsetMs: number, phrase?: string): CheckRequest => ({
  ...session.delivery({ signedAt: session.clock.now() + offsetMs }),
  phrase,
});

export const timeProbes = probeGroup('time', { rule: '4.2 rule 5', level: 'must', requires: ['time'] }, [
  {
    name: 'far',
    isHarmless: true,
    expected: '4xx to a time that is a week away',
    hint: 'compare the signed time with the clock in both directions, and refuse what is further off than about five minutes',
    run: refuses(
      (session) => [
        signedSince(session, -weekMs, 'to a delivery that was signed a week ago'),
        signedSince(session, weekMs, 'to a delivery signed a week in the future'),
      ],
      'warn',
    ),
  },
  {
    name: 'window',
    level: 'should',
    isHarmless: true,
    expected: '4xx to a delivery that was signed an hour ago',
    hint: 'tolerate about five minutes: what is accepted for longer can be replayed for longer',
    run: refuses((session) => signedSince(session, -staleMs(session.signer.scheme.toleranceMs)), 'warn'),
  },
  {
    name: 'skew',
    level: 'should',
    expected: '2xx to a delivery that was signed 30 s ago',
    hint: 'tolerate about five minutes: clocks differ, and deliveries wait',
    run: acknowledges((session) => signedSince(session, -skewMs(session.signer.scheme.toleranceMs))),
  },
]);

export const replayProbes = probeGroup('replay', { rule: '4.2 rule 5', level: 'must', requires: ['nonce'] }, [
  {
    name: 'nonce',
    expected: '4xx to a nonce that came with another lead',
    hint: 'keep the ids of deliveries as long as the tolerance of their time, and refuse one with another body',
    run: afterFirst(async (session, lead) =>
      expectRefused(await session.send(session.delivery({ id: deliveryId(lead) })), 'warn'),
    ),
  },
  {
    name: 'retry',
    expected: '2xx to the same delivery again, as the service repeats it',
    hint: 'acknowledge a delivery that is known: the answer to the first one may have been lost',
    run: afterFirst(async (session, lead) => {
      const signedAnew = session.delivery({ lead, signedAt: session.clock.now() + 1000 });
      return worstOf([
        expectAccepted(await session.send(signedAnew)),
        expectAccepted(await session.send(session.delivery({ lead }))),
      ]);
    }),
  },
]);

/** Judges the deliveries after a first one; where that one is not acknowledged, nothing of them can be judged. */
function afterFirst(judge: (session: CheckSession, lead: TestLead) => Promise<Finding>): Probe['run'] {
  return async (session) => {
    const lead = session.newLead();
    const first = expectAccepted(await session.send(session.delivery({ lead })));
    if (first.result === 'pass') return judge(session, lead);
    return { ...first, seen: `the first delivery was not acknowledged: ${first.seen}` };
  };
}

const parallelDeliveries = 10;

export const dedupeProbes = probeGroup('dedupe', { rule: '4.2 rule 6', level: 'must' }, [
  {
    name: 'repeat',
    // Its parallel deliveries need all connections.
    runsLast: true,
    expected: '2xx to the same lead again, and stored once',
    hint: 'make the id unique where leads are stored, and acknowledge one that is known without storing it',
    async run(session) {
      const lead = session.newLead();
      const first = await deliver(session, lead, 1);
      // A receiver that remembers the last lead alone would pass without this one.
      await deliver(session, session.newLead(), 1);
      const twice = [first, await deliver(session, lead, 2)];
      const findings = [await expectStoredOnce(session, lead, twice, ' when it came twice')];
      const parallelLead = session.newLead();
      const parallel = await Promise.all(
        Array.from({ length: parallelDeliveries }, (_, i) => deliver(session, parallelLead, i + 1)),
      );
      const phrase = ` when it came ${parallelDeliveries} times at once`;
      findings.push(await expectStoredOnce(session, parallelLead, parallel, phrase));
      if (session.oracle !== undefined) findings.push(await expectChangedLeadOnce(session));
      return worstOf(findings);
    },
  },
  {
    name: 'other-lead',
    expected: 'another lead of the same person, stored as well',
    hint: 'the id alone makes a lead the same: a person may ask twice',
    requires: ['oracle'],
    run: afterFirst(async (session, { value: { contact } }) => {
      const lead = session.newLead({ contact });
      return expectStoredOnce(session, lead, [await deliver(session, lead, 1)]);
    }),
  },
  {
    name: 'forged',
    rule: '4.2 rule 3',
    expected: 'a forgery not stored, and 2xx to the genuine lead after it',
    hint: 'verify before anything is stored or remembered: else a forgery is stored, or keeps the genuine lead out',
    requires: ['credential'],
    async run(session) {
      const lead = session.newLead();
      const exchange = await session.send(forgedDelivery(session, lead));
      if (isAcknowledged(exchange)) return skipped('a wrong credential is acknowledged');
      const refused = expectRefused(exchange, 'warn');
      const genuine = (): Promise<Exchange> => session.send(session.delivery({ lead }));
      if (session.oracle === undefined) return worstOf([refused, expectAccepted(await genuine())]);
      const count = await storedCount(session, lead.id);
      if (typeof count !== 'number') return uncounted(count, exchange);
      if (count > 0) return { result: 'fail', seen: `${refused.seen}, and it is stored`, exchange };
      return expectStoredOnce(session, lead, [await genuine()]);
    },
  },
]);

/** The id of the delivery differs each time: it is the lead's id that makes them one. */
const deliver = (session: CheckSession, lead: TestLead, number: number): Promise<Exchange> =>
  session.send(session.delivery({ lead, id: `msg_${lead.id}_${number}` }));

async function expectChangedLeadOnce(session: CheckSession): Promise<Finding> {
  const lead = session.newLead();
  const first = await deliver(session, lead, 1);
  const changedLead = { ...lead, value: { ...lead.value, category: 'changed' } };
  const changed = await deliver(session, changedLead, 2);
  // A refusal is as good, since the lead is stored.
  const exchanges = expectRefused(changed).result === 'pass' ? [first] : [first, changed];
  return expectStoredOnce(session, lead, exchanges, ' when it came with another body');
}

/** Judges deliveries of one lead: each is acknowledged, and the oracle, where there is one, counts one lead. */
async function expectStoredOnce(
  session: CheckSession,
  { id }: TestLead,
  exchanges: readonly Exchange[],
  phrase = '',
): Promise<Finding> {
  const worst = worstOf(exchanges.map(expectAccepted));
  if (worst.result !== 'pass') return { ...worst, seen: worst.seen + phrase };
  const { exchange } = worst;
  const count = await storedCount(session, id);
  if (typeof count !== 'number') return uncounted(count, exchange);
  if (count === 1) return { result: 'pass', seen: 'it is stored once', exchange };
  if (count > 1) return { result: 'fail', seen: `it is stored ${count} times${phrase}`, exchange };
  const hint = 'answer 200 only after the lead is stored: the service does not deliver it again';
  return { result: 'fail', seen: 'it was acknowledged and is not stored', exchange, hint };
}

/** A receiver may store a copy a moment after it acknowledged; in milliseconds. */
const settledMs = 1000;

/** A text says why the number is not known; undefined where there is no oracle. */
async function storedCount(session: CheckSession, leadId: string): Promise<number | string | undefined> {
  if (session.oracle !== undefined) await session.clock.sleep(settledMs, session.signal);
  return session.oracle?.(leadId);
}

const uncounted = (reason: string | undefined, exchange: Exchange | undefined): Finding => ({
  result: reason === undefined ? 'warn' : 'fail',
  seen: reason ?? 'acknowledged each time; what is stored cannot be seen from outside',
  exchange,
  hint: 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored',
});

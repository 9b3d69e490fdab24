import { forgedDelivery } from '../credential.ts';
import { expectAccepted, expectRefused, type Finding, probeGroup, skipped, worstOf } from '../probe.ts';
import { type CheckSession, type Exchange, isAcknowledged, type TestLead } from '../session.ts';
import { afterFirst } from './replay.ts';

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
  if (session.oracle !== undefined) await session.clock.sleep(settledMs, session.wire.signal);
  return session.oracle?.(leadId);
}

const uncounted = (reason: string | undefined, exchange: Exchange | undefined): Finding => ({
  result: reason === undefined ? 'warn' : 'fail',
  seen: reason ?? 'acknowledged each time; what is stored cannot be seen from outside',
  exchange,
  hint: 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored',
});

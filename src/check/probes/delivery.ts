import { forgedDelivery } from '../credential.ts';
import { isCutOff } from '../exchange.ts';
import {
  expectAccepted,
  expectRefused,
  type Finding,
  type Probe,
  probeGroup,
  skipped,
  worstOf,
} from '../probe.ts';
import { type CheckSession, deliveryId, type Exchange, jsonOf, type TestLead } from '../session.ts';

/** Most other probes say something only about a receiver that passes this one. */
export const validDelivery: Probe = {
  name: 'delivery.valid',
  rule: '4.2 rule 2',
  level: 'must',
  expected: '200 to a genuine lead',
  hint: 'answer 200 at the URL itself: nothing else acknowledges, and redirects are not followed',
  isIndependent: true,
  async run(session) {
    const exchange = await session.send(session.deliveryOf(session.newLead()));
    const finding = expectAccepted(exchange);
    if (finding.isUnproven) return finding;
    const { answer } = exchange;
    const isTaken = answer.answered && answer.status === 200 && answer.isWhole;
    return { ...finding, result: isTaken ? 'pass' : 'fail', hint: adviceFor(exchange, session) };
  },
};

function adviceFor({ answer }: Exchange, { signer, endpoint }: CheckSession): string | undefined {
  // A TLS port closes a connection on which it receives plain HTTP.
  if (isCutOff(answer) && !endpoint.isSecure) return 'does it speak HTTPS? Then the URL begins with https://';
  const status = answer.answered ? answer.status : 0;
  if ([401, 403].includes(status)) {
    return signer.key === undefined
      ? 'this delivery carries no credential: give --token, or --scheme and --secret'
      : 'check that both sides use the same scheme and secret, and that the clocks agree';
  }
  return [404, 405].includes(status) ? 'check the path of the URL' : undefined;
}

const replays = probeGroup('replay', { rule: '4.2 rule 5', level: 'must', requires: ['nonce'] }, [
  {
    name: 'nonce',
    expected: '4xx to a nonce that came with another lead',
    hint: 'keep the ids of deliveries as long as the tolerance of their time, and refuse one with another body',
    run: afterFirst(async (session, lead) => {
      const replay = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
      return expectRefused(await session.send(replay), 'warn');
    }),
  },
  {
    name: 'retry',
    expected: '2xx to the same delivery again, as the service repeats it',
    hint: 'acknowledge a delivery that is known: the answer to the first one may have been lost',
    run: afterFirst(async (session, lead) => {
      const resigned = session.deliveryOf(lead, { signedAt: session.clock.now() + 1000 });
      const resignedFinding = expectAccepted(await session.send(resigned));
      const identical = session.deliveryOf(lead);
      return worstOf([resignedFinding, expectAccepted(await session.send(identical))]);
    }),
  },
]);

/** Judges the deliveries after a first one; where that one is not taken, nothing of them can be judged. */
function afterFirst(judge: (session: CheckSession, lead: TestLead) => Promise<Finding>): Probe['run'] {
  return async (session) => {
    const lead = session.newLead();
    const first = expectAccepted(await session.send(session.deliveryOf(lead)));
    if (first.result === 'pass') return judge(session, lead);
    return { ...first, result: 'warn', seen: `the first delivery was not acknowledged: ${first.seen}` };
  };
}

const parallelDeliveries = 10;

const repeats = probeGroup('dedupe', { rule: '4.2 rule 6', level: 'must' }, [
  {
    name: 'repeat',
    // Its parallel deliveries need all connections.
    phase: 'alone',
    expected: '2xx to the same lead again, and stored once',
    hint: 'make the id unique where leads are stored, and acknowledge one that is known without storing it',
    async run(session) {
      const lead = session.newLead();
      const first = await deliver(session, lead, 1);
      // A receiver that remembers the last lead alone would pass without this one.
      await deliver(session, session.newLead(), 1);
      const twice = [first, await deliver(session, lead, 2)];
      const parallelLead = session.newLead();
      const parallel = Array.from({ length: parallelDeliveries }, (_, i) =>
        deliver(session, parallelLead, i + 1),
      );
      return worstOf([
        await expectStoredOnce(session, lead, twice, ' when it came twice'),
        await expectStoredOnce(
          session,
          parallelLead,
          await Promise.all(parallel),
          ` when it came ${parallelDeliveries} times at once`,
        ),
        ...(session.oracle === undefined ? [] : [await expectChangedLeadOnce(session)]),
      ]);
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
      const refused = expectRefused(exchange, 'warn');
      if (refused.result === 'fail') return skipped('a wrong credential is acknowledged');
      if (session.oracle === undefined)
        return worstOf([refused, expectAccepted(await session.send(session.deliveryOf(lead)))]);
      const count = await storedCount(session, lead.id);
      if (typeof count !== 'number') return uncounted(count, exchange);
      if (count > 0) return { result: 'fail', seen: `${refused.seen}, and it is stored`, exchange };
      const genuine = await session.send(session.deliveryOf(lead));
      return expectStoredOnce(session, lead, [genuine]);
    },
  },
]);

/** The id of the delivery differs each time: it is the lead's id that makes them one. */
const deliver = (session: CheckSession, lead: TestLead, number: number): Promise<Exchange> =>
  session.send(session.deliveryOf(lead, { id: `msg_${lead.id}_${number}` }));

async function expectChangedLeadOnce(session: CheckSession): Promise<Finding> {
  const lead = session.newLead();
  const first = await deliver(session, lead, 1);
  const body = jsonOf({ ...lead, value: { ...lead.value, category: 'changed' } });
  const changed = await session.send(session.deliveryOf(lead, { body, id: `msg_${lead.id}_2` }));
  // A refusal is as good, since the lead is stored.
  const exchanges = expectRefused(changed).result === 'pass' ? [first] : [first, changed];
  return expectStoredOnce(session, lead, exchanges, ' when it came with another body');
}

/** Judges deliveries of one lead: each is acknowledged, and the oracle, where there is one, counts one lead. */
async function expectStoredOnce(
  session: CheckSession,
  { id }: TestLead,
  exchanges: readonly Exchange[],
  form = '',
): Promise<Finding> {
  const worst = worstOf(exchanges.map(expectAccepted));
  if (worst.result !== 'pass') return { ...worst, seen: worst.seen + form };
  const { exchange } = worst;
  const count = await storedCount(session, id);
  if (typeof count !== 'number') return uncounted(count, exchange);
  if (count === 1) return { result: 'pass', seen: 'it is stored once', exchange };
  if (count > 1) return { result: 'fail', seen: `it is stored ${count} times${form}`, exchange };
  const hint = 'answer 200 only after the lead is stored: the service does not deliver it again';
  return { result: 'fail', seen: 'it was acknowledged and is not stored', exchange, hint };
}

/** A receiver may store a copy a moment after it acknowledged; in milliseconds. */
const settledMs = 1000;

async function storedCount(session: CheckSession, leadId: string): Promise<number | string | undefined> {
  if (session.oracle !== undefined) await session.clock.sleep(settledMs, session.wire.signal);
  return session.oracle?.(leadId);
}

/** The number of stored copies is not known; `reason` says why, where there is an oracle. */
const uncounted = (reason: string | undefined, exchange: Exchange | undefined): Finding => ({
  result: reason === undefined ? 'warn' : 'fail',
  seen: reason ?? 'acknowledged each time; what is stored cannot be seen from outside',
  exchange,
  hint: 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored',
});

export const repeatProbes: readonly Probe[] = [...replays, ...repeats];

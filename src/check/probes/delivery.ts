import { forgedDelivery } from '../credential.ts';
import { isCutOff } from '../exchange.ts';
import { expectAccepted, expectRefused, type Finding, type Probe, probeGroup, worstOf } from '../probe.ts';
import { type CheckSession, deliveryId, type Exchange, jsonOf, type TestLead } from '../session.ts';

const [valid, stored] = probeGroup('delivery', { rule: '4.2 rule 2', level: 'must' }, [
  {
    name: 'valid',
    expected: '200 to a genuine lead',
    hint: 'nothing but 200 acknowledges: the service delivers again, or gives up',
    isIndependent: true,
    async run(session) {
      const exchange = await session.send(session.deliveryOf(session.newLead()));
      const finding = expectAccepted(exchange);
      if (finding.isUnproven) return finding;
      const { answer } = exchange;
      const isTaken = answer.answered && answer.status === 200 && answer.isWhole;
      return { ...finding, result: isTaken ? 'pass' : 'fail', hint: adviceFor(exchange, session) };
    },
  },
  {
    name: 'stored',
    expected: 'a lead that was acknowledged is stored',
    hint: 'answer 200 only after the lead is stored: the service does not deliver it again',
    requires: ['oracle'],
    async run(session) {
      const lead = session.newLead();
      const exchange = await session.send(session.deliveryOf(lead));
      const accepted = expectAccepted(exchange);
      if (accepted.result !== 'pass') return { ...accepted, result: 'warn' };
      const count = await storedCount(session, lead.id);
      if (typeof count !== 'number') return uncounted(count, exchange);
      return count > 0
        ? { result: 'pass', seen: 'it is stored', exchange }
        : { result: 'fail', seen: 'it was acknowledged and is not stored', exchange };
    },
  },
]) as [Probe, Probe];

/** Most other probes say something only about a receiver that passes this one. */
export const validDelivery = valid;

function adviceFor({ answer }: Exchange, { signer, endpoint }: CheckSession): string | undefined {
  // A TLS port closes a connection on which it receives plain HTTP.
  if (!answer.answered) {
    return isCutOff(answer) && !endpoint.isSecure
      ? 'does it speak HTTPS? Then the URL begins with https://'
      : undefined;
  }
  const { status } = answer;
  if (status === 401 || status === 403) {
    return signer.key === undefined
      ? 'this delivery carries no credential: give --token, or --scheme and --secret'
      : 'check that both sides use the same scheme and secret, and that the clocks agree';
  }
  if (status === 404 || status === 405) return 'check the path of the URL';
  return status >= 300 && status < 400
    ? 'redirects are not followed: answer 200 at the URL itself'
    : undefined;
}

/** A receiver may acknowledge a moment before it stores; in milliseconds. */
const patienceMs = 2000;
const betweenMs = 200;

/** How often a lead is stored, once it is; a text says why that is not known. Undefined without an oracle. */
async function storedCount(
  { oracle, clock, wire: { signal } }: CheckSession,
  leadId: string,
): Promise<number | string | undefined> {
  if (oracle === undefined) return undefined;
  const until = clock.steady() + patienceMs;
  let count = await oracle(leadId);
  while (count === 0 && clock.steady() < until) {
    await clock.sleep(betweenMs, signal);
    count = await oracle(leadId);
  }
  if (count !== 1) return count;
  // A second copy may come later than the first.
  await clock.sleep(betweenMs, signal);
  return oracle(leadId);
}

/** The number of stored copies is not known; `reason` says why, where there is an oracle. */
const uncounted = (reason: string | undefined, exchange: Exchange | undefined): Finding => ({
  result: reason === undefined ? 'warn' : 'fail',
  seen: reason ?? 'acknowledged each time; what is stored cannot be seen from outside',
  exchange,
  hint: 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored',
});

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
      const resigned = session.deliveryOf(lead, { at: session.clock.now() + 1000 });
      const resignedFinding = expectAccepted(await session.send(resigned));
      const identical = session.deliveryOf(lead);
      return worstOf([resignedFinding, expectAccepted(await session.send(identical))]);
    }),
  },
  {
    name: 'forged',
    expected: '2xx to a nonce that a forgery used before',
    hint: 'remember a nonce only once its delivery is verified: anyone could use it up',
    async run(session) {
      const lead = session.newLead();
      const refused = expectRefused(await session.send(forgedDelivery(session, lead)), 'warn');
      if (refused.result !== 'pass') return refused;
      return expectAccepted(await session.send(session.deliveryOf(lead)));
    },
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

const atOnce = 10;

const knownLead =
  'make the id unique where leads are stored, and acknowledge one that is known without storing it';

const repeats = probeGroup('dedupe', { rule: '4.2 rule 6', level: 'must' }, [
  {
    name: 'repeat',
    expected: '2xx to the same lead twice, stored once',
    hint: knownLead,
    async run(session) {
      const lead = session.newLead();
      const first = await deliver(session, lead, 1);
      // A receiver that remembers the last lead alone would pass without this one.
      await deliver(session, session.newLead(), 1);
      return expectStoredOnce(session, lead, [first, await deliver(session, lead, 2)]);
    },
  },
  {
    name: 'parallel',
    expected: `2xx to the same lead ${atOnce} times at once, stored once`,
    hint: knownLead,
    async run(session) {
      const lead = session.newLead();
      const deliveries = Array.from({ length: atOnce }, (_, i) => deliver(session, lead, i + 1));
      return expectStoredOnce(session, lead, await Promise.all(deliveries));
    },
  },
  {
    name: 'other-body',
    expected: 'the same id with another body, stored once',
    hint: knownLead,
    requires: ['oracle'],
    run: afterFirst(async (session, lead) => {
      const body = jsonOf({ ...lead, value: { ...lead.value, category: 'changed' } });
      const exchange = await session.send(session.deliveryOf(lead, { body, id: `msg_${lead.id}_2` }));
      // A refusal is as good, since the lead is stored.
      return expectRefused(exchange).result === 'pass'
        ? expectCountOfOne(session, lead, exchange)
        : expectStoredOnce(session, lead, [exchange]);
    }),
  },
  {
    name: 'other-lead',
    expected: 'another lead of the same person, stored as well',
    hint: 'the id alone makes a lead the same: a person may ask twice',
    requires: ['oracle'],
    run: afterFirst(async (session, { value: { contact } }) => {
      const lead = session.newLead({ contact });
      return expectStoredOnce(session, lead, [await deliver(session, lead, 1)], 'fail');
    }),
  },
  {
    name: 'forged',
    rule: '4.2 rule 3',
    expected: 'a forgery not stored, the genuine lead after it stored',
    hint: 'verify before anything is stored or remembered: else a forgery is stored, or keeps the genuine lead out',
    requires: ['credential', 'oracle'],
    async run(session) {
      const lead = session.newLead();
      const exchange = await session.send(forgedDelivery(session, lead));
      const refused = expectRefused(exchange, 'warn');
      if (refused.result !== 'pass') return refused;
      await session.clock.sleep(betweenMs, session.wire.signal);
      const count = await session.oracle?.(lead.id);
      if (typeof count !== 'number') return uncounted(count, exchange);
      if (count > 0) return { result: 'fail', seen: `${refused.seen}, and it is stored`, exchange };
      return expectStoredOnce(session, lead, [await deliver(session, lead, 1)], 'fail');
    },
  },
]);

/** The id of the delivery differs each time: it is the lead's id that makes them one. */
const deliver = (session: CheckSession, lead: TestLead, number: number): Promise<Exchange> =>
  session.send(session.deliveryOf(lead, { id: `msg_${lead.id}_${number}` }));

/** `absent` is how a lead counts that is not stored at all; `delivery.stored` tells that of every lead. */
async function expectStoredOnce(
  session: CheckSession,
  lead: TestLead,
  exchanges: readonly Exchange[],
  absent: 'fail' | 'warn' = 'warn',
): Promise<Finding> {
  const [first, ...further] = exchanges.map(expectAccepted);
  if (first === undefined) throw new TypeError('no delivery was made');
  const worst = worstOf([first, ...further]);
  return worst.result === 'pass' ? expectCountOfOne(session, lead, worst.exchange, absent) : worst;
}

async function expectCountOfOne(
  session: CheckSession,
  lead: TestLead,
  exchange: Exchange | undefined,
  absent: 'fail' | 'warn' = 'warn',
): Promise<Finding> {
  const count = await storedCount(session, lead.id);
  if (typeof count !== 'number') return uncounted(count, exchange);
  if (count === 0) return { result: absent, seen: 'it is not stored at all', exchange };
  if (count === 1) return { result: 'pass', seen: 'it is stored once', exchange };
  return { result: 'fail', seen: `it is stored ${count} times`, exchange };
}

export const deliveryProbes: readonly Probe[] = [valid, stored];
export const repeatProbes: readonly Probe[] = [...replays, ...repeats];

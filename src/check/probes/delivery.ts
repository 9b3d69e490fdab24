import { alterCredential, noCredential, otherText } from '../credential.ts';
import { canForge } from '../../sender/forge-request.ts';
import { isCutOff } from '../raw-request.ts';
import { expectAccepted, expectRefused, type Finding, type Probe, probeGroup, worstOf } from '../probe.ts';
import {
  type CheckRequest,
  type CheckSession,
  deliveryId,
  type Exchange,
  jsonOf,
  type TestLead,
} from '../session.ts';

/** Most other probes say something only about a receiver that passes this one. */
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
    const isTaken = answer.status === 200 && answer.isWhole;
    return { ...finding, result: isTaken ? 'pass' : 'fail', hint: adviceFor(answer.status, session) };
  },
};

const stored = probeGroup('delivery', { rule: '4.2 rule 2', level: 'must' }, [
  {
    name: 'stored',
    expected: 'a lead that was acknowledged is stored',
    hint: 'answer 200 only after the lead is stored: the service does not deliver it again',
    needsAcknowledgement: true,
    inapplicable: (session) => needsOracle(session),
    async run(session) {
      const lead = session.newLead();
      const exchange = await session.send(session.deliveryOf(lead));
      const accepted = expectAccepted(exchange);
      if (accepted.result !== 'pass') return { ...accepted, result: 'warn' };
      const count = await storedCount(session, lead.id);
      if (typeof count !== 'number') return uncounted(count, exchange);
      return {
        result: count > 0 ? 'pass' : 'fail',
        seen: count > 0 ? 'it is stored' : 'it was acknowledged and is not stored',
        exchange,
      };
    },
  },
]);

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

/** How many copies are stored is not known, and perhaps why. */
const uncounted = (why: string | undefined, exchange: Exchange | undefined): Finding => ({
  result: why === undefined ? 'warn' : 'fail',
  seen: why ?? 'acknowledged each time; what is stored cannot be seen from outside',
  exchange,
  hint: 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored',
});

const needsOracle = ({ oracle }: CheckSession): string | undefined =>
  oracle === undefined ? 'it needs --oracle' : undefined;

const replays = probeGroup(
  'replay',
  {
    rule: '4.2 rule 5',
    level: 'must',
    needsAcknowledgement: true,
    inapplicable: ({ signer }) =>
      signer.key === undefined || !canForge(signer, 'reusedNonce')
        ? `the scheme '${signer.scheme.name}' has no nonce`
        : undefined,
  },
  [
    {
      name: 'nonce',
      expected: '4xx to a nonce that came with another lead',
      hint: 'keep the ids of deliveries as long as the tolerance of their time, and refuse one with another body',
      run: afterFirst(async (session, lead) => {
        const other = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
        return expectRefused(await session.send(other), 'warn');
      }),
    },
    {
      name: 'retry',
      expected: '2xx to the same delivery again, as the service repeats it',
      hint: 'acknowledge a delivery that is known: the answer to the first one may have been lost',
      run: afterFirst(async (session, lead) =>
        worstOf([
          // A retry is signed anew, and a repeated request is the same to the byte.
          expectAccepted(await session.send(session.deliveryOf(lead, { at: session.clock.now() + 1000 }))),
          expectAccepted(await session.send(session.deliveryOf(lead))),
        ]),
      ),
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
  ],
);

/** With another credential of the right length. */
function forgedDelivery(session: CheckSession, lead: TestLead): CheckRequest {
  const genuine = session.deliveryOf(lead);
  const headers = alterCredential(session, genuine.headers, otherText);
  return { ...genuine, headers, withheld: genuine.headers };
}

/** Judges what comes after a first delivery; where that one is not taken, nothing of it can be judged. */
function afterFirst(judge: (session: CheckSession, lead: TestLead) => Promise<Finding>): Probe['run'] {
  return async (session) => {
    const lead = session.newLead();
    const first = expectAccepted(await session.send(session.deliveryOf(lead)));
    if (first.result === 'pass') return judge(session, lead);
    const seen = `the first delivery was not acknowledged: ${first.seen}`;
    return { ...first, result: 'warn', seen };
  };
}

const atOnce = 10;

const knownLead =
  'make the id unique where leads are stored, and acknowledge one that is known without storing it';

const repeats = probeGroup('dedupe', { rule: '4.2 rule 6', level: 'must', needsAcknowledgement: true }, [
  {
    name: 'repeat',
    expected: '2xx to the same lead twice, stored once',
    hint: knownLead,
    async run(session) {
      const lead = session.newLead();
      const first = await deliver(session, lead, 1);
      // One that remembers the last lead alone would pass.
      await deliver(session, session.newLead(), 1);
      return storedOnce(session, lead, [first, await deliver(session, lead, 2)]);
    },
  },
  {
    name: 'parallel',
    expected: `2xx to the same lead ${atOnce} times at once, stored once`,
    hint: knownLead,
    async run(session) {
      const lead = session.newLead();
      const deliveries = Array.from({ length: atOnce }, (_, i) => deliver(session, lead, i + 1));
      return storedOnce(session, lead, await Promise.all(deliveries));
    },
  },
  {
    name: 'other-body',
    expected: 'the same id with another body, stored once',
    hint: knownLead,
    inapplicable: needsOracle,
    run: afterFirst(async (session, lead) => {
      const body = jsonOf({ ...lead, value: { ...lead.value, category: 'changed' } });
      const exchange = await session.send(session.deliveryOf(lead, { body, id: `msg_${lead.id}_2` }));
      // To refuse it is not worse: the lead is stored.
      return expectRefused(exchange).result === 'pass'
        ? countedOnce(session, lead, exchange)
        : storedOnce(session, lead, [exchange]);
    }),
  },
  {
    name: 'other-lead',
    expected: 'another lead of the same person, stored as well',
    hint: 'the id alone makes a lead the same: a person may ask twice',
    inapplicable: needsOracle,
    run: afterFirst(async (session, { value: { contact } }) => {
      const lead = session.newLead({ contact });
      return storedOnce(session, lead, [await deliver(session, lead, 1)], 'fail');
    }),
  },
  {
    name: 'forged',
    rule: '4.2 rule 3',
    expected: 'a forgery not stored, the genuine lead after it stored',
    hint: 'verify before anything is stored or remembered: else a forgery is stored, or keeps the genuine lead out',
    inapplicable: (session) => noCredential(session) ?? needsOracle(session),
    async run(session) {
      const lead = session.newLead();
      const forged = await session.send(forgedDelivery(session, lead));
      const refused = expectRefused(forged, 'warn');
      if (refused.result !== 'pass') return refused;
      await session.clock.sleep(betweenMs, session.wire.signal);
      const count = await session.oracle?.(lead.id);
      if (typeof count !== 'number') return uncounted(count, forged);
      if (count > 0) return { result: 'fail', seen: `${refused.seen}, and it is stored`, exchange: forged };
      return storedOnce(session, lead, [await deliver(session, lead, 1)], 'fail');
    },
  },
]);

/** Deliveries of their own: it is the lead's id that makes them one. */
const deliver = (session: CheckSession, lead: TestLead, number: number): Promise<Exchange> =>
  session.send(session.deliveryOf(lead, { id: `msg_${lead.id}_${number}` }));

/** `absent`: what it counts as that the lead is not stored; `delivery.stored` tells that of every lead. */
async function storedOnce(
  session: CheckSession,
  lead: TestLead,
  exchanges: readonly Exchange[],
  absent: 'fail' | 'warn' = 'warn',
): Promise<Finding> {
  const [first, ...rest] = exchanges.map(expectAccepted);
  if (first === undefined) throw new TypeError('no delivery was made');
  const worst = worstOf([first, ...rest]);
  if (worst.result !== 'pass') return worst;
  return countedOnce(session, lead, worst.exchange, absent);
}

async function countedOnce(
  session: CheckSession,
  lead: TestLead,
  exchange: Exchange | undefined,
  absent: 'fail' | 'warn' = 'warn',
): Promise<Finding> {
  const count = await storedCount(session, lead.id);
  if (typeof count !== 'number') return uncounted(count, exchange);
  if (count === 0) return { result: absent, seen: 'it is not stored at all', exchange };
  return { result: count === 1 ? 'pass' : 'fail', seen: `it is stored ${timesText(count)}`, exchange };
}

const timesText = (count: number): string => (count === 1 ? 'once' : `${count} times`);

export const deliveryProbes: readonly Probe[] = [validDelivery, ...stored];
export const repeatProbes: readonly Probe[] = [...replays, ...repeats];

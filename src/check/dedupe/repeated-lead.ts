import { expectAccepted } from '../judge-answer.ts';
import { type Finding, type Probe, worstOf } from '../check-probe.ts';
import type { CheckSession, Exchange } from '../session.ts';
import { needsOracle, oracleHint, storedCount } from '../stored-leads.ts';
import type { TestLead } from '../test-lead.ts';

const common = { rule: '4.2 rule 6', level: 'must', needsAcknowledgement: true } as const;

const hint =
  'make the id unique where leads are stored, and acknowledge one that is known without storing it';

export const repeatedLead: Probe = {
  ...common,
  name: 'dedupe.repeat',
  expected: '2xx to the same lead twice, stored once',
  hint,
  async run(session) {
    const lead = session.newLead();
    const first = await deliver(session, lead, 1);
    return storedOnce(session, lead, [first, await deliver(session, lead, 2)]);
  },
};

const atOnce = 10;

export const parallelLead: Probe = {
  ...common,
  name: 'dedupe.parallel',
  expected: `2xx to the same lead ${atOnce} times at once, stored once`,
  hint,
  async run(session) {
    const lead = session.newLead();
    const deliveries = Array.from({ length: atOnce }, (_, i) => deliver(session, lead, i + 1));
    return storedOnce(session, lead, await Promise.all(deliveries));
  },
};

/** Deliveries of their own: it is the lead's id that makes them one. */
const deliver = (session: CheckSession, lead: TestLead, number: number): Promise<Exchange> =>
  session.send(session.deliveryOf(lead, { id: `msg_${lead.id}_${number}` }));

async function storedOnce(
  session: CheckSession,
  lead: TestLead,
  exchanges: readonly Exchange[],
): Promise<Finding> {
  const [first, ...others] = exchanges.map(expectAccepted);
  if (first === undefined) throw new TypeError('no delivery was made');
  const worst = worstOf([first, ...others]);
  if (worst.result !== 'pass') return worst;
  const { exchange } = worst;
  const count = await storedCount(session, lead.id);
  if (count === undefined) {
    return { result: 'warn', seen: `acknowledged each time; ${needsOracle}`, exchange, hint: oracleHint };
  }
  if (typeof count === 'string') return { result: 'fail', seen: count, exchange, hint: oracleHint };
  if (count === 0) return { result: 'warn', seen: 'it is not stored at all', exchange };
  return { result: count === 1 ? 'pass' : 'fail', seen: `it is stored ${timesText(count)}`, exchange };
}

const timesText = (count: number): string => (count === 1 ? 'once' : `${count} times`);

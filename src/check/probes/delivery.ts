import { canForge } from '../../sender/forge-request.ts';
import { isCutOff } from '../exchange.ts';
import { expectAccepted, expectRefused, type Finding, type Probe, skipped, worstOf } from '../probe.ts';
import { type CheckSession, deliveryId, type Exchange, type TestLead } from '../session.ts';

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
    const isAcknowledged = answer.status === 200 && answer.isWhole;
    return { ...finding, result: isAcknowledged ? 'pass' : 'fail', hint: adviceFor(answer.status, session) };
  },
};

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

/** Whether the run has seen the receiver take a genuine delivery. */
export const isAcknowledged = ({ answer }: Exchange): boolean =>
  answer.answered && answer.status >= 200 && answer.status < 300;

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

const needsOracle = 'what is stored cannot be seen from outside';

const oracleHint = 'give --oracle CMD: it gets LEAD_ID and prints how many such leads are stored';

export const storedDelivery: Probe = {
  name: 'delivery.stored',
  rule: '4.2 rule 2',
  level: 'must',
  expected: 'a lead that was acknowledged is stored',
  hint: 'answer 200 only after the lead is stored: the service does not deliver it again',
  needsAcknowledgement: true,
  inapplicable: ({ oracle }) => (oracle === undefined ? 'it needs --oracle' : undefined),
  async run(session) {
    const lead = session.newLead();
    const exchange = await session.send(session.deliveryOf(lead));
    const accepted = expectAccepted(exchange);
    if (accepted.result !== 'pass') return { ...accepted, result: 'warn' };
    const count = await storedCount(session, lead.id);
    if (count === undefined) return skipped(needsOracle);
    if (typeof count === 'string') return { result: 'fail', seen: count, exchange, hint: oracleHint };
    return {
      result: count > 0 ? 'pass' : 'fail',
      seen: count > 0 ? 'it is stored' : 'it was acknowledged and is not stored',
      exchange,
    };
  },
};

const ofDedupe = { rule: '4.2 rule 6', level: 'must', needsAcknowledgement: true } as const;

const hint =
  'make the id unique where leads are stored, and acknowledge one that is known without storing it';

export const repeatedLead: Probe = {
  ...ofDedupe,
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
  ...ofDedupe,
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

const withoutNonce = ({ signer }: CheckSession): string | undefined =>
  signer.key === undefined || !canForge(signer, 'reusedNonce')
    ? `the scheme '${signer.scheme.name}' has no nonce`
    : undefined;

const ofReplay = {
  rule: '4.2 rule 5',
  level: 'must',
  needsAcknowledgement: true,
  inapplicable: withoutNonce,
} as const;

/** Judges what comes after a first delivery; where that one is not taken, nothing of it can be judged. */
const afterFirst =
  (judge: (session: CheckSession, lead: TestLead) => Promise<Finding>): Probe['run'] =>
  async (session) => {
    const lead = session.newLead();
    const first = expectAccepted(await session.send(session.deliveryOf(lead)));
    if (first.result === 'pass') return judge(session, lead);
    return { ...first, result: 'warn', seen: `the first delivery was not acknowledged: ${first.seen}` };
  };

export const reusedNonce: Probe = {
  ...ofReplay,
  name: 'replay.nonce',
  expected: '4xx to a nonce that came with another lead',
  hint: 'keep the ids of deliveries as long as the tolerance of their time, and refuse one with another body',
  run: afterFirst(async (session, lead) => {
    const other = session.deliveryOf(session.newLead(), { id: deliveryId(lead) });
    return expectRefused(await session.send(other), 'warn');
  }),
};

export const honestRetry: Probe = {
  ...ofReplay,
  name: 'replay.retry',
  expected: '2xx to the same delivery again, as the service repeats it',
  hint: 'acknowledge a delivery that is known: the answer to the first one may have been lost',
  run: afterFirst(async (session, lead) =>
    worstOf([
      // A retry is signed anew, and a repeated request is the same to the byte.
      expectAccepted(await session.send(session.deliveryOf(lead, { at: session.clock.now() + 1000 }))),
      expectAccepted(await session.send(session.deliveryOf(lead))),
    ]),
  ),
};

import { slept } from '../time/clock.ts';
import { formatDuration } from '../time/time-text.ts';
import { withoutCredential } from './credential.ts';
import { type Answer, isCutOff } from './exchange.ts';
import type { CheckRequest, CheckSession, Exchange } from './session.ts';

/**
 * `must` is what the specification demands of a receiver (section 4.2), `should` is what keeps it safe and reachable,
 * `info` is worth knowing.
 */
export const levels = ['must', 'should', 'info'] as const;

type Level = (typeof levels)[number];

export interface Finding {
  readonly result: 'pass' | 'fail' | 'warn' | 'skip';
  /** A sentence without a full stop about what the receiver did; for a skipped probe, why it was skipped. */
  readonly seen: string;
  readonly exchange?: Exchange | undefined;
  readonly isUnproven?: true;
  readonly hint?: string | undefined;
}

export type Requirement = 'credential' | 'time' | 'nonce' | 'oracle' | 'tls' | 'direct';

export interface Probe {
  readonly name: string;
  readonly rule: string;
  readonly level: Level;
  readonly expected: string;
  readonly hint: string;
  readonly requires?: readonly Requirement[];
  /** An obedient receiver stores nothing of it and goes on running, so it may run against production. */
  readonly isHarmless?: boolean;
  /** It proves something even about a receiver that acknowledges no genuine delivery. */
  readonly isIndependent?: boolean;
  /**
   * Probes run together by default, and after them one by one what may stop a weak receiver (`alone`), what asks about the
   * state in which all others left it (`end`), and what searches their answers and sends nothing (`review`).
   */
  readonly phase?: 'alone' | 'end' | 'review';
  readonly run: (session: CheckSession) => Promise<Finding> | Finding;
}

type Row = Pick<Probe, 'name' | 'expected' | 'hint' | 'run'> & Partial<Probe>;

/** The probes of one group; each row overrides the values that the group has in common. */
export const probeGroup = (
  group: string,
  common: Pick<Probe, 'rule' | 'level'> & Partial<Probe>,
  rows: readonly Row[],
): readonly Probe[] => rows.map((row) => ({ ...common, ...row, name: `${group}.${row.name}` }));

export const groupOf = ({ name }: Pick<Probe, 'name'>): string => name.slice(0, name.indexOf('.'));

export const skipped = (reason: string): Finding => ({ result: 'skip', seen: reason });

/** An unproven rule may lead to exit 7 as a failure does, so it outweighs a warning. */
const severity = ({ result, isUnproven }: Finding): number =>
  ['skip', 'pass', 'warn', 'unproven', 'fail'].indexOf(result === 'warn' && isUnproven ? 'unproven' : result);

export const worstOf = (findings: readonly Finding[]): Finding =>
  findings.reduce(
    (worst, finding) => (severity(finding) > severity(worst) ? finding : worst),
    skipped('it does not apply to this scheme'),
  );

export function describeAnswer(answer: Answer): string {
  if (answer.answered) {
    return `it answered ${answer.status}${answer.isWhole ? '' : ', and the answer did not end in time'}`;
  }
  const { code, ms } = answer;
  if (code === 'timeout' || code === 'aborted') return `no answer within ${formatDuration(ms)}`;
  if (code === 'ECONNREFUSED') return 'nothing listens there any more (ECONNREFUSED)';
  if (code.startsWith('HPE_')) return `its answer is not HTTP that can be read (${code})`;
  return isCutOff(answer) ? `the connection was closed without an answer (${code})` : `no answer (${code})`;
}

/** After 429 the receiver has said nothing about this request. */
const limited = (exchange: Exchange): Finding => ({
  result: 'warn',
  isUnproven: true,
  seen: 'it answered 429, so nothing is proved',
  exchange,
  hint: 'raise the rate limit for this run, or run fewer probes with --only',
});

export const isAcknowledged = ({ answer }: Exchange): boolean =>
  answer.answered && answer.status >= 200 && answer.status < 300;

export function expectAccepted(exchange: Exchange): Finding {
  const { answer } = exchange;
  if (answer.answered && answer.status === 429) return limited(exchange);
  const isAccepted = answer.answered && isAcknowledged(exchange) && answer.isWhole;
  return { result: isAccepted ? 'pass' : 'fail', seen: describeAnswer(answer), exchange };
}

/**
 * Judges a request that must be refused with a status of 4xx. A refusal in another form is not as it should be, although
 * nothing was accepted; `errors` is how a 5xx counts.
 */
export function expectRefused(exchange: Exchange, errors: 'fail' | 'warn' = 'fail'): Finding {
  const { answer } = exchange;
  const judged = (result: Finding['result']): Finding => ({ result, seen: describeAnswer(answer), exchange });
  if (!answer.answered) return judged(isCutOff(answer) ? 'warn' : 'fail');
  const { status } = answer;
  if (status === 429) return limited(exchange);
  if (!answer.isWhole) return judged('fail');
  if (status >= 500) return judged(errors);
  if (status >= 400) return judged('pass');
  return judged(status >= 300 ? 'warn' : 'fail');
}

type RequestsOf = (session: CheckSession) => CheckRequest | readonly CheckRequest[];

export const acknowledges = (requestsOf: RequestsOf): Probe['run'] => judgesEach(requestsOf, expectAccepted);

export const refuses = (requestsOf: RequestsOf, errors?: 'fail' | 'warn'): Probe['run'] =>
  judgesEach(requestsOf, (exchange) => expectRefused(exchange, errors));

/** All forms are sent at the same time; the finding is that of the worst answer, and names its form. */
const judgesEach =
  (requestsOf: RequestsOf, judge: (exchange: Exchange) => Finding): Probe['run'] =>
  async (session) => {
    const requests = [requestsOf(session)].flat();
    const findings = requests.map(async (request) => {
      const finding = judge(await session.send(request));
      return request.form === undefined ? finding : { ...finding, seen: `${finding.seen} ${request.form}` };
    });
    return worstOf(await Promise.all(findings));
  };

/** For a supervisor to restart a receiver that crashed, in milliseconds. */
const patienceMs = 3000;
const betweenMs = 250;

/** The finding of `run`, and a failure where the receiver does not answer a genuine lead right after it. */
export const survives =
  (run: Probe['run']): Probe['run'] =>
  async (session) => {
    // The probe is not blamed for an earlier end.
    if (!(await isAlive(session, patienceMs)))
      return skipped('the receiver no longer answers a genuine lead');
    const finding = await run(session);
    if (await isAlive(session, 0)) return finding;
    return { ...finding, result: 'fail', seen: 'after it, the receiver did not answer a genuine lead' };
  };

/**
 * Sends a genuine lead, or where none may be stored what no receiver takes for one, until it is answered; 5xx is what a
 * proxy answers for a receiver that is away.
 */
async function isAlive(session: CheckSession, withinMs: number): Promise<boolean> {
  const { clock, wire, mayWrite } = session;
  const until = clock.steady() + withinMs;
  for (;;) {
    const request = mayWrite ? session.deliveryOf(session.newLead()) : session.deliveryOfBody('');
    const { answer } = await session.send(mayWrite ? request : withoutCredential(session, request));
    if (answer.answered && (answer.status < 500 || !mayWrite)) return true;
    if (clock.steady() >= until || !(await slept(clock, betweenMs, wire.signal))) return false;
  }
}

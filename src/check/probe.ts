import { formatDuration } from '../time/time-text.ts';
import { type Answer, isCutOff } from './exchange.ts';
import { type CheckRequest, type CheckSession, type Exchange, isAcknowledged } from './session.ts';

/**
 * `must` is what the specification demands of a receiver (section 4.2), `should` is what keeps it safe and reachable,
 * `info` is worth knowing.
 */
export const levels = ['must', 'should', 'info'] as const;

const resultsFromBestToWorst = ['skip', 'pass', 'warn', 'fail'] as const;

export interface Finding {
  readonly result: (typeof resultsFromBestToWorst)[number];
  /** A sentence without a full stop about what the receiver did; for a skipped probe, why it was skipped. */
  readonly seen: string;
  readonly exchange?: Exchange | undefined;
  readonly hint?: string | undefined;
}

/**
 * A probe is skipped without what it requires: a `credential` that is sent; a scheme that signs the `time`; a scheme with a `nonce` in a
 * header that can be reused; the user's `oracle`, which tells how many leads the receiver stored.
 */
export type Requirement = 'credential' | 'time' | 'nonce' | 'oracle';

/** A probe asks a receiver one question: it sends something, and expects certain answers. */
export interface Probe {
  readonly name: string;
  /** The section of the specification, such as `4.2 rule 3`. */
  readonly rule: string;
  readonly level: (typeof levels)[number];
  readonly expected: string;
  readonly hint: string;
  readonly requires?: readonly Requirement[];
  /** An obedient receiver stores nothing of it and goes on running, so it may run against production. */
  readonly isHarmless?: boolean;
  /** Most probes run at the same time; those that depend on what the others did run after them, one by one. */
  readonly runsLast?: boolean;
  readonly run: (session: CheckSession) => Promise<Finding> | Finding;
}

type Row = Pick<Probe, 'name' | 'expected' | 'hint' | 'run'> & Partial<Probe>;

/** The probes of one group, named `group.row`; each row overrides the values that the group has in common. */
export const probeGroup = (
  group: string,
  common: Pick<Probe, 'rule' | 'level'> & Partial<Probe>,
  rows: readonly Row[],
): readonly Probe[] => rows.map((row) => ({ ...common, ...row, name: `${group}.${row.name}` }));

export const groupOf = ({ name }: Pick<Probe, 'name'>): string => name.slice(0, name.indexOf('.'));

export const skipped = (reason: string): Finding => ({ result: 'skip', seen: reason });

const severityOf = ({ result }: Finding): number => resultsFromBestToWorst.indexOf(result);

/** The first one of the worst findings. Without any the probe is skipped: it has no request for this scheme. */
export const worstOf = (findings: readonly Finding[]): Finding =>
  findings.reduce(
    (worst, finding) => (severityOf(finding) > severityOf(worst) ? finding : worst),
    skipped('it does not apply to this scheme'),
  );

type RequestsOf = (session: CheckSession) => CheckRequest | readonly CheckRequest[];

/** Runs a probe whose requests must be acknowledged: 2xx to each of them. Here and in `refuses`, no requests mean that it is skipped. */
export const acknowledges = (requestsOf: RequestsOf): Probe['run'] => expectsEach(requestsOf, expectAccepted);

/** Runs a probe whose requests must be refused: 4xx to each of them. A 5xx counts as `serverError`. */
export const refuses = (requestsOf: RequestsOf, serverError?: 'fail' | 'warn'): Probe['run'] =>
  expectsEach(requestsOf, (exchange) => expectRefused(exchange, serverError));

/** Sends all requests at the same time. The finding is that of the worst answer, with the phrase that tells the request from the others. */
const expectsEach =
  (requestsOf: RequestsOf, findingOf: (exchange: Exchange) => Finding): Probe['run'] =>
  async (session) => {
    const findings = [requestsOf(session)].flat().map(async (request) => {
      const finding = findingOf(await session.send(request));
      const { phrase } = request;
      return phrase === undefined ? finding : { ...finding, seen: `${finding.seen} ${phrase}` };
    });
    return worstOf(await Promise.all(findings));
  };

function describeAnswer({ status, error = '', isWhole, ms }: Answer): string {
  if (status !== undefined)
    return `it answered ${status}${isWhole ? '' : ', and the answer did not end in time'}`;
  if (error === 'timeout' || error === 'aborted') return `no answer within ${formatDuration(ms)}`;
  if (error === 'ECONNREFUSED') return 'nothing listens there any more (ECONNREFUSED)';
  if (error.startsWith('HPE_')) return `its answer is not HTTP that can be read (${error})`;
  if (/^(ECONNRESET|EPIPE)$/.test(error)) return `the connection was closed without an answer (${error})`;
  return `no answer (${error})`;
}

const rateLimited = (exchange: Exchange): Finding => ({
  result: 'fail',
  seen: 'it answered 429, so nothing is proved',
  exchange,
  hint: 'raise the rate limit for this run, or run fewer probes with --only',
});

export function expectAccepted(exchange: Exchange): Finding {
  const { answer } = exchange;
  if (answer.status === 429) return rateLimited(exchange);
  const isAccepted = isAcknowledged(exchange) && answer.isWhole;
  return { result: isAccepted ? 'pass' : 'fail', seen: describeAnswer(answer), exchange };
}

/**
 * Judges a request that must be refused with a status of 4xx. A redirect and a closed connection are warnings, since nothing was
 * accepted. A 5xx counts as `serverError`: the service would deliver the request again.
 */
export function expectRefused(exchange: Exchange, serverError: 'fail' | 'warn' = 'fail'): Finding {
  const { answer } = exchange;
  if (answer.status === 429) return rateLimited(exchange);
  return { result: resultOfRefusal(answer, serverError), seen: describeAnswer(answer), exchange };
}

function resultOfRefusal(answer: Answer, serverError: 'fail' | 'warn'): Finding['result'] {
  const { status, isWhole } = answer;
  if (status === undefined) return isCutOff(answer) ? 'warn' : 'fail';
  if (!isWhole) return 'fail';
  if (status >= 500) return serverError;
  if (status >= 400) return 'pass';
  return status >= 300 ? 'warn' : 'fail';
}

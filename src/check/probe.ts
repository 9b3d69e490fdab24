import { formatDuration } from '../time/time-text.ts';
import { type Answer, isCutOff } from './raw-request.ts';
import type { CheckRequest, CheckSession, Exchange } from './session.ts';

/**
 * `must` is what the specification demands of a receiver (section 4.2), `should` is what keeps it safe and reachable,
 * `info` is worth knowing.
 */
export const levels = ['must', 'should', 'info'] as const;

type Level = (typeof levels)[number];

export type Result = 'pass' | 'fail' | 'warn' | 'skip';

/** What a probe found. */
export interface Finding {
  readonly result: Result;
  /** What was seen, as a sentence without a full stop; why, where the probe was skipped. */
  readonly seen: string;
  /** What shows it: of several requests, the one that decided. */
  readonly exchange?: Exchange | undefined;
  /** The receiver did not say whether the rule holds. */
  readonly isUnproven?: true;
  /** Instead of the probe's own hint. */
  readonly hint?: string | undefined;
}

/**
 * `together`: at the same time as others. `alone`: one at a time after those, since it may stop a weak receiver. `last`:
 * when everything else is over.
 */
export type Stage = 'first' | 'together' | 'alone' | 'last';

/** One question to a receiver. */
export interface Probe {
  /** Stable: `GROUP.NAME`. */
  readonly name: string;
  /** The section of the specification that it proves. */
  readonly rule: string;
  readonly level: Level;
  /** What a good receiver does, in a few words. */
  readonly expected: string;
  /** What to change in a receiver that fails. */
  readonly hint: string;
  /** Default `together`. */
  readonly stage?: Stage;
  /** Nothing of it may be stored by a receiver that obeys, and it stops none: it may run against production. */
  readonly isHarmless?: boolean;
  /** It says something only about a receiver that acknowledges a genuine delivery. */
  readonly needsAcknowledgement?: true;
  /** A receiver that refuses everything passes it: only one that acknowledges a genuine delivery proves the rule. */
  readonly expectsRefusal?: true;
  /** It takes seconds by its nature: it begins before the others of its stage. */
  readonly isSlow?: true;
  /** Why it does not apply here; undefined: it does. */
  readonly inapplicable?: (session: CheckSession) => string | undefined;
  readonly run: (session: CheckSession) => Promise<Finding>;
}

type Common = Pick<Probe, 'rule' | 'level'> & Partial<Probe>;
type Row = Pick<Probe, 'name' | 'expected' | 'hint' | 'run'> & Partial<Probe>;

/** The probes of one group, named by what stands behind the dot, with what they have in common. */
export const probeGroup = (group: string, common: Common, rows: readonly Row[]): readonly Probe[] =>
  rows.map((row) => ({ ...common, ...row, name: `${group}.${row.name}` }));

export const groupOf = ({ name }: Pick<Probe, 'name'>): string => name.slice(0, name.indexOf('.'));

export const skipped = (reason: string): Finding => ({ result: 'skip', seen: reason });

/** What is not proved may be a reason for exit 7, as a failure is, and a warning is none. */
const severity = ({ result, isUnproven }: Finding): number =>
  ['skip', 'pass', 'warn', 'unproven', 'fail'].indexOf(result === 'warn' && isUnproven ? 'unproven' : result);

/** The worst of several findings; of equal ones the first. */
export const worstOf = (findings: readonly [Finding, ...Finding[]]): Finding =>
  findings.reduce((worst, one) => (severity(one) > severity(worst) ? one : worst));

/** What came back, in a few words: `it answered 401`. */
export function describeAnswer(answer: Answer): string {
  if (answer.answered) {
    const end = answer.isWhole ? '' : ', and the answer did not end in time';
    return `it answered ${answer.status}${end}`;
  }
  if (answer.code === 'timeout' || answer.code === 'aborted')
    return `no answer within ${formatDuration(answer.ms)}`;
  if (answer.code === 'ECONNREFUSED') return 'nothing listens there any more (ECONNREFUSED)';
  if (answer.code.startsWith('HPE_')) return `its answer is not HTTP that can be read (${answer.code})`;
  return isCutOff(answer)
    ? `the connection was closed without an answer (${answer.code})`
    : `no answer (${answer.code})`;
}

/** Of one answer. */
type Judgement = Finding & { readonly seen: string };

/** Too many requests: the receiver says nothing about this one. */
const limited = (exchange: Exchange): Judgement => ({
  result: 'warn',
  isUnproven: true,
  seen: 'it answered 429, so nothing is proved',
  exchange,
  hint: 'raise the rate limit for this run, or run fewer probes with --only',
});

/** Whether the receiver has acknowledged the request. */
export const isAcknowledged = ({ answer }: Exchange): boolean =>
  answer.answered && answer.status >= 200 && answer.status < 300;

/** A delivery that must be acknowledged. */
export function expectAccepted(exchange: Exchange): Judgement {
  const { answer } = exchange;
  const seen = describeAnswer(answer);
  if (!answer.answered) return { result: 'fail', seen, exchange };
  if (answer.status === 429) return limited(exchange);
  const isTaken = isAcknowledged(exchange) && answer.isWhole;
  return { result: isTaken ? 'pass' : 'fail', seen, exchange };
}

/**
 * A request that must be refused with a status of 4xx. To be refused in another way is not as it should be, and yet
 * nothing was accepted; `errors`: what an error of the server counts as.
 */
export function expectRefused(exchange: Exchange, errors: 'fail' | 'warn' = 'fail'): Judgement {
  const { answer } = exchange;
  const seen = describeAnswer(answer);
  if (!answer.answered) return { result: isCutOff(answer) ? 'warn' : 'fail', seen, exchange };
  const { status } = answer;
  if (status === 429) return limited(exchange);
  if (!answer.isWhole) return { result: 'fail', seen, exchange };
  if (status >= 400 && status < 500) return { result: 'pass', seen, exchange };
  if (status >= 500) return { result: errors, seen, exchange };
  return { result: status >= 300 ? 'warn' : 'fail', seen, exchange };
}

type RequestOf = (session: CheckSession) => CheckRequest | Promise<CheckRequest>;

/** Sends one request that must be acknowledged. */
export const acknowledges =
  (requestOf: RequestOf): Probe['run'] =>
  async (session) =>
    expectAccepted(await session.send(await requestOf(session)));

/** Sends one request that must be refused; `errors`: see `expectRefused`. */
export const refuses =
  (requestOf: RequestOf, errors?: 'fail' | 'warn'): Probe['run'] =>
  async (session) =>
    expectRefused(await session.send(await requestOf(session)), errors);

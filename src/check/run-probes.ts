import { UsageError } from '../errors.ts';
import { limitTime } from '../http/client/limit-time.ts';
import { slept } from '../time/clock.ts';
import { formatDuration } from '../time/time-text.ts';
import { withoutCredential } from './credential.ts';
import { type Finding, groupOf, isAcknowledged, type Probe, skipped, type Stage } from './probe.ts';
import type { CheckSession } from './session.ts';
import { answerProbes } from './probes/answers.ts';
import { bodyProbes } from './probes/body.ts';
import { credentialProbes } from './probes/credential.ts';
import { deliveryProbes, repeatProbes } from './probes/delivery.ts';
import { protocolProbes } from './probes/protocol.ts';

/** At the same time: enough to wait for slow answers together, and few enough for a small server. */
const usualWidth = 8;

/** Of a first answer: a receiver that takes longer is asked everything at once, or the run would take minutes. */
const slowMs = 2000;

/** Runs the probes stage by stage, and gives their reports in the order of `probes`. */
export async function runProbes(probes: readonly Probe[], options: RunOptions): Promise<ProbeReport[]> {
  const reports = new Map<Probe, ProbeReport>();
  const publish = async (report: ProbeReport): Promise<void> => {
    reports.set(report.probe, report);
    await options.onReport(report);
  };
  const ofStage = (stage: Stage): Probe[] => probes.filter((probe) => (probe.stage ?? 'together') === stage);
  let firstMs = 0;
  /** Why a probe that needs a receiver which takes genuine leads says nothing. */
  let unacknowledged: string | undefined;

  const run = (probe: Probe): Promise<ProbeReport> => {
    const reason = reasonToSkip(probe, options, unacknowledged);
    return reason === undefined ? runOne(probe, options) : Promise.resolve(withReason(probe, reason));
  };
  for (const probe of ofStage('first')) {
    const report = await run(probe);
    await publish(report);
    const { exchange } = report.finding;
    firstMs = report.ms;
    if (exchange !== undefined && !isAcknowledged(exchange))
      unacknowledged = `no genuine delivery is acknowledged (${probe.name})`;
  }
  const together = ofStage('together').sort((a, b) => Number(b.isSlow ?? false) - Number(a.isSlow ?? false));
  const width = firstMs > slowMs ? together.length : usualWidth;
  await atMost(width, together, async (probe) => publish(await run(probe)));
  const withLead = options.mayWrite && unacknowledged === undefined;
  const health = (): Promise<Health | undefined> =>
    withinTime(options, (session) => healthOf(session, withLead));
  // Asked before the first probe that may stop the receiver, so that it is not blamed for what was so before.
  const mayStop = ofStage('alone').some(
    (probe) => reasonToSkip(probe, options, unacknowledged) === undefined,
  );
  const before = mayStop ? await health() : undefined;
  let death: string | undefined = before === 'dead' || before === 'failing' ? diagnosis(before) : undefined;
  for (const probe of ofStage('alone')) {
    const report = death === undefined ? await run(probe) : withReason(probe, death);
    const after = report.finding.result === 'skip' ? 'alive' : ((await health()) ?? 'alive');
    if (after === 'dead' || after === 'failing') death = diagnosis(after, probe.name);
    await publish(
      after === 'alive'
        ? report
        : { ...report, finding: { ...report.finding, result: 'fail', seen: diagnosis(after) } },
    );
  }
  for (const probe of ofStage('last')) await publish(await run(probe));
  return probes.flatMap((probe) => reports.get(probe) ?? []);
}

/** How a receiver is after a request that may have stopped it; `failing`: a genuine lead is answered with 5xx. */
type Health = 'alive' | 'restarted' | 'failing' | 'dead';

function diagnosis(after: Exclude<Health, 'alive'>, since?: string): string {
  if (after === 'restarted') return 'the receiver was away, and came back';
  const what = after === 'dead' ? 'no longer answers' : 'answers a genuine lead with an error';
  return `the receiver ${what}${since === undefined ? '' : ` since ${since}`}`;
}

/** For a supervisor to restart a receiver that crashed, in milliseconds. */
const patienceMs = 3000;
const betweenMs = 250;

/**
 * Asks until there is an answer other than 5xx, which a proxy gives for a receiver that is away, for a few seconds;
 * `withLead`: whether it is asked with a genuine one, which it took before, or without any lead: a receiver that takes unsigned
 * deliveries would store it.
 */
async function healthOf(session: CheckSession, withLead: boolean): Promise<Health> {
  const { clock, wire } = session;
  const until = clock.steady() + patienceMs;
  for (let health: Health = 'alive'; ; health = 'restarted') {
    const { answer } = await session.send(
      withLead
        ? session.deliveryOf(session.newLead())
        : withoutCredential(session, session.deliveryOfBody(Buffer.alloc(0))),
    );
    const isFailing = withLead && answer.answered && answer.status >= 500;
    if (answer.answered && !isFailing) return health;
    const end = isFailing ? 'failing' : 'dead';
    // A receiver that takes the whole time for one answer is not asked again.
    if (clock.steady() > until || wire.signal.aborted) return end;
    if (!(await slept(clock, betweenMs, wire.signal))) return end;
  }
}

function reasonToSkip(
  probe: Probe,
  { session, mayWrite }: RunOptions,
  unacknowledged: string | undefined,
): string | undefined {
  const reason = probe.inapplicable?.(session);
  if (reason !== undefined) return reason;
  if (!mayWrite && probe.isHarmless !== true)
    return 'it stores leads, or may stop a weak receiver: --allow-writes';
  return probe.needsAcknowledgement === true ? unacknowledged : undefined;
}

const withReason = (probe: Probe, reason: string): ProbeReport => ({
  probe,
  finding: skipped(reason),
  ms: 0,
  isCut: false,
});

async function atMost<T>(
  width: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = [...items];
  const worker = async (): Promise<void> => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, worker));
}

/** One probe with what it found. */
export interface ProbeReport {
  readonly probe: Probe;
  readonly finding: Finding;
  /** In milliseconds; 0 when it was skipped. */
  readonly ms: number;
  /** It says nothing, because other probes had taken the time of the whole run. */
  readonly isCut: boolean;
}

interface RunOptions {
  readonly session: CheckSession;
  /** Leads may be stored by the receiver. */
  readonly mayWrite: boolean;
  /** For one probe, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the time of the whole run is up; the session's own signal is then aborted. */
  readonly isOver: () => boolean;
  /** The user's: work ends with its reason. */
  readonly signal: AbortSignal;
  readonly onReport: (report: ProbeReport) => Promise<void>;
}

/** Runs one probe in its time, whatever the receiver does. */
async function runOne(probe: Probe, options: RunOptions): Promise<ProbeReport> {
  const { clock } = options.session;
  const startedAt = clock.steady();
  const finding = await withinTime(options, (session) => findingOf(probe, session));
  const ms = Math.round(clock.steady() - startedAt);
  if (finding === undefined) {
    return { probe, finding: skipped('the time of the whole run was up'), ms: 0, isCut: true };
  }
  // A probe of level `info` never counts as a failure.
  const result = probe.level === 'info' && finding.result === 'fail' ? 'warn' : finding.result;
  return { probe, finding: { ...finding, result }, ms, isCut: false };
}

async function findingOf(probe: Probe, session: CheckSession): Promise<Finding> {
  try {
    return await probe.run(session);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (session.wire.signal.aborted)
      return { result: 'fail', seen: `it took longer than ${formatDuration(session.wire.timeoutMs)}` };
    if (code === undefined || !/^(E[A-Z]+$|ERR_SSL|ERR_TLS|CERT_|UNABLE_)/.test(code)) throw error;
    return { result: 'fail', seen: `the connection failed (${code})` };
  }
}

/** Undefined when the time of the whole run is up before there is a result. */
async function withinTime<T>(
  { session, timeoutMs, isOver, signal }: RunOptions,
  work: (session: CheckSession) => Promise<T>,
): Promise<T | undefined> {
  signal.throwIfAborted();
  if (isOver()) return undefined;
  const limit = limitTime(timeoutMs, session.wire.signal);
  try {
    const result = await work(session.within(limit.signal));
    signal.throwIfAborted();
    return isOver() ? undefined : result;
  } finally {
    limit.clear();
  }
}

/**
 * The probes whose names, or groups, match one of `only` (all without any) and none of `skip`. In a pattern, `*` stands
 * for any characters and `?` for one. Throws a `UsageError` for a pattern that matches nothing, and when none is left.
 */
export function selectProbes(
  all: readonly Probe[],
  only: readonly string[],
  skip: readonly string[],
): readonly Probe[] {
  const matchers = (option: 'only' | 'skip', patterns: readonly string[]): ((probe: Probe) => boolean)[] =>
    patterns.map((pattern) => {
      const matches = globMatcher(pattern);
      const isMatch = (probe: Probe): boolean => matches(probe.name) || matches(groupOf(probe));
      if (all.some(isMatch)) return isMatch;
      throw new UsageError(`--${option} '${pattern}' matches no probe`, {
        hint: "'leads check --list' shows their names",
      });
    });
  const wanted = matchers('only', only);
  const unwanted = matchers('skip', skip);
  const selected = all.filter(
    (probe) =>
      (wanted.length === 0 || wanted.some((matches) => matches(probe))) &&
      !unwanted.some((matches) => matches(probe)),
  );
  if (selected.length > 0) return selected;
  throw new UsageError('--only and --skip leave no probe');
}

function globMatcher(pattern: string): (text: string) => boolean {
  const source = pattern
    .split('')
    .map((letter) => (letter === '*' ? '.*' : letter === '?' ? '.' : letter.replace(/\W/, String.raw`\$&`)))
    .join('');
  const expression = new RegExp(`^${source}$`);
  return (text) => expression.test(text);
}

/** Every probe, in the order in which they are shown: group by group. */
export const probes: readonly Probe[] = [
  ...deliveryProbes,
  ...credentialProbes,
  ...repeatProbes,
  ...bodyProbes,
  ...protocolProbes,
  ...answerProbes,
];

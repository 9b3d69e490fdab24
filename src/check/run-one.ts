import { limitTime } from '../http/client/limit-time.ts';
import { formatDuration } from '../time/duration.ts';
import { type Finding, type Probe, skipped } from './check-probe.ts';
import type { CheckSession } from './session.ts';

/** One probe with what it found. */
export interface ProbeReport {
  readonly probe: Probe;
  readonly finding: Finding;
  /** In milliseconds; 0 when it was skipped. */
  readonly ms: number;
  /** It says nothing, because other probes had taken the time of the whole run. */
  readonly isCut: boolean;
}

export interface RunOptions {
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
export async function runOne(probe: Probe, options: RunOptions): Promise<ProbeReport> {
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
    if (session.wire.signal.aborted) {
      return { result: 'fail', seen: `it took longer than ${formatDuration(session.wire.timeoutMs)}` };
    }
    if (code === undefined || !/^(E[A-Z]+$|ERR_SSL|ERR_TLS|CERT_|UNABLE_)/.test(code)) throw error;
    return { result: 'fail', seen: `the connection failed (${code})` };
  }
}

/** Undefined when the time of the whole run is up before there is a result. */
export async function withinTime<T>(
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

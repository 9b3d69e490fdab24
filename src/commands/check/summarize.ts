import { type Baseline, healedOf } from '../../check/baseline.ts';
import type { Result } from '../../check/check-probe.ts';
import type { ProbeReport } from '../../check/run-one.ts';
import type { CheckSession } from '../../check/session.ts';

export interface Summary {
  readonly reports: readonly ProbeReport[];
  readonly counts: Readonly<Record<Result, number>>;
  /** Failures that are reasons for exit 7. */
  readonly failures: readonly ProbeReport[];
  /** Probes that did not run, because others had taken the time. */
  readonly cut: readonly ProbeReport[];
  /** Probes that the baseline says fail, and that pass. */
  readonly healed: readonly string[];
  readonly accepted: readonly string[];
  readonly isInOrder: boolean;
  readonly startedAt: number;
  readonly ms: number;
}

interface SummaryOptions {
  readonly baseline: Baseline | undefined;
  readonly strict: boolean;
  readonly session: CheckSession;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export function summarize(reports: readonly ProbeReport[], options: SummaryOptions): Summary {
  const { baseline, strict, session, startedAt } = options;
  const count = (result: Result): number => reports.filter(({ finding }) => finding.result === result).length;
  const failures = reports.filter((report) => isReasonToFail(report, strict, baseline));
  // A `must` that there was no time to check is not known to hold.
  const cut = reports.filter(({ isCut }) => isCut);
  return {
    reports,
    counts: { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') },
    failures,
    cut,
    healed: baseline === undefined ? [] : healedOf(reports, baseline),
    accepted: session.accepted(),
    isInOrder: failures.length === 0 && cut.length === 0,
    startedAt,
    ms: session.clock.now() - startedAt,
  };
}

/** A `must`, and with `strict` a `should`, that fails and is not known to. */
const isReasonToFail = (
  { probe, finding }: ProbeReport,
  strict: boolean,
  baseline: Baseline | undefined,
): boolean =>
  finding.result === 'fail' &&
  (probe.level === 'must' || strict) &&
  baseline?.failing.has(probe.name) !== true;

import { type Baseline, healedOf } from '../../check/baseline.ts';
import { withoutSensitive } from '../../check/credential.ts';
import { curlLine, type CurlTrust } from '../../check/curl-line.ts';
import { groupOf, type Result } from '../../check/probe.ts';
import type { ProbeReport } from '../../check/run-probes.ts';
import type { CheckSession } from '../../check/session.ts';

/** Of an answer that is shown, in characters. */
const shownAnswer = 1000;

/** One report as an object of `--json`; every other form is made of it. Nothing in it is a secret. */
export type DescribedReport = ReturnType<typeof describeReport>;

export function describeReport(
  { probe, finding, ms }: ProbeReport,
  session: CheckSession,
  trust: CurlTrust,
  isKnown: boolean,
) {
  const { name, rule, level, expected } = probe;
  const { result, exchange } = finding;
  const isOdd = result === 'fail' || result === 'warn';
  const answer = exchange?.answer;
  return {
    type: 'probe' as const,
    name,
    group: groupOf(probe),
    rule: `specification ${rule}`,
    level,
    result,
    expected,
    /** Null for a probe that was skipped. */
    seen:
      result === 'skip'
        ? null
        : {
            status: answer?.answered === true ? answer.status : null,
            ms: answer?.ms ?? ms,
            answer: answer?.answered === true ? answerText(session, answer.body) : null,
          },
    /** What was seen, or why the probe was skipped, as a sentence. */
    detail: withoutSensitive(session, finding.seen),
    hint: isOdd ? (finding.hint ?? probe.hint) : null,
    curl: result === 'fail' && exchange !== undefined ? curlLine(session, exchange.request, trust) : null,
    /** It fails, and the baseline says so. */
    ...(isKnown && result === 'fail' ? { known: true as const } : {}),
  };
}

/** The beginning of the body, decoded; a text that is cut inside a secret would show a part of it. */
function answerText(session: CheckSession, body: Buffer): string {
  const text = withoutSensitive(session, body.toString('utf8'));
  return text.length > shownAnswer ? `${text.slice(0, shownAnswer)}…` : text;
}

export type Summary = ReturnType<typeof summarize>;

interface SummaryOptions {
  readonly baseline: Baseline | undefined;
  readonly strict: boolean;
  readonly session: CheckSession;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export function summarize(reports: readonly ProbeReport[], options: SummaryOptions) {
  const { baseline, strict, session, startedAt } = options;
  const count = (result: Result): number => reports.filter(({ finding }) => finding.result === result).length;
  const failures = reports.filter((report) => isReasonToFail(report, strict, baseline));
  // A `must` that there was no time to check is not known to hold.
  const cut = reports.filter(({ isCut }) => isCut);
  return {
    reports,
    counts: { pass: count('pass'), fail: count('fail'), warn: count('warn'), skip: count('skip') },
    /** Those that are reasons for exit 7. */
    failures,
    /** Probes that did not run, because others had taken the time. */
    cut,
    /** Of `failures`, those of which the receiver did not say whether they hold. */
    unproven: failures.filter(({ finding }) => finding.isUnproven),
    /** Probes that the baseline says fail, and that pass. */
    healed: baseline === undefined ? [] : healedOf(reports, baseline),
    accepted: session.accepted(),
    isInOrder: failures.length === 0 && cut.length === 0,
    startedAt,
    ms: session.clock.now() - startedAt,
  };
}

/** A `must`, and with `strict` a `should`, that fails, or is not known to hold, and is not known to fail. */
const isReasonToFail = (
  { probe, finding }: ProbeReport,
  strict: boolean,
  baseline: Baseline | undefined,
): boolean =>
  (finding.result === 'fail' || finding.isUnproven === true) &&
  (probe.level === 'must' || (strict && probe.level === 'should')) &&
  baseline?.failing.has(probe.name) !== true;

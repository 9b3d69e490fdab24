import { curlLine, type CurlTrust } from '../../../check/curl-line.ts';
import { groupOf } from '../../../check/check-probe.ts';
import type { ProbeReport } from '../../../check/run-one.ts';
import { withoutSensitive } from '../../../check/sensitive-texts.ts';
import type { CheckSession } from '../../../check/session.ts';

/** Of an answer that is shown, in characters. */
const shownAnswer = 1000;

/** One report as an object of `--json`; every other form is made of it. Nothing in it is a secret. */
export interface DescribedReport {
  readonly type: 'probe';
  readonly name: string;
  readonly group: string;
  readonly rule: string;
  readonly level: string;
  readonly result: string;
  readonly expected: string;
  /** Null for a probe that was skipped. */
  readonly seen: {
    readonly status: number | null;
    readonly ms: number;
    readonly answer: string | null;
  } | null;
  /** What was seen, or why the probe was skipped, as a sentence. */
  readonly detail: string;
  readonly hint: string | null;
  readonly curl: string | null;
  /** It fails, and the baseline says so. */
  readonly known?: true;
}

export function describeReport(
  { probe, finding, ms }: ProbeReport,
  session: CheckSession,
  trust: CurlTrust,
  isKnown: boolean,
): DescribedReport {
  const { name, rule, level, expected } = probe;
  const { result, exchange } = finding;
  const isOdd = result === 'fail' || result === 'warn';
  const answer = exchange?.answer;
  return {
    type: 'probe',
    name,
    group: groupOf(probe),
    rule: `specification ${rule}`,
    level,
    result,
    expected,
    seen:
      result === 'skip'
        ? null
        : {
            status: answer?.answered === true ? answer.status : null,
            ms: answer?.ms ?? ms,
            answer: answer?.answered === true ? answerText(session, answer.body) : null,
          },
    detail: withoutSensitive(session, finding.seen),
    hint: isOdd ? (finding.hint ?? probe.hint) : null,
    curl: result === 'fail' && exchange !== undefined ? curlLine(session, exchange.request, trust) : null,
    ...(isKnown && result === 'fail' ? { known: true } : {}),
  };
}

/** The beginning of the body, decoded; a text that is cut inside a secret would show a part of it. */
function answerText(session: CheckSession, body: Buffer): string {
  const text = withoutSensitive(session, body.toString('utf8'));
  return text.length > shownAnswer ? `${text.slice(0, shownAnswer)}…` : text;
}

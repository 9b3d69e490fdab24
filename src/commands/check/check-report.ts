import type { Result } from '../../check/probe.ts';
import type { Report, Tone } from '../../report/report.ts';
import { formatDuration } from '../../time/time-text.ts';
import { acceptedText, unprovenText } from './print.ts';
import type { DescribedReport, Summary } from './report.ts';

const tones: Readonly<Record<Result, Tone>> = { pass: 'good', fail: 'bad', warn: 'doubtful', skip: 'plain' };

/** What the probes found, as a report: what failed first, with the command that shows it. */
export function checkReport(
  target: string,
  { counts, accepted, isInOrder, cut, unproven, failures, startedAt, ms }: Summary,
  described: readonly DescribedReport[],
): Report {
  const failed = described.filter(({ result }) => result === 'fail');
  return {
    title: isInOrder
      ? 'The receiver is in order'
      : failures.length > unproven.length
        ? 'The receiver is not in order'
        : 'The receiver is not known to be in order',
    program: `leads check ${LEADS_VERSION}`,
    madeAt: startedAt,
    zone: 'UTC',
    facts: [
      ['Receiver', target],
      ['Took', formatDuration(ms)],
      ['Test leads', acceptedText(accepted)],
    ],
    notices: [
      ...(cut.length === 0 ? [] : [`The receiver took so long that ${cut.length} probes did not run.`]),
      ...(unproven.length === 0 ? [] : [unprovenText(unproven.length)]),
    ],
    sections: [
      {
        kind: 'bars',
        title: 'Results',
        heads: ['Result', 'Probes'],
        total: described.length,
        rows: (
          [
            ['passed', 'pass'],
            ['failed', 'fail'],
            ['warnings', 'warn'],
            ['skipped', 'skip'],
          ] as const
        ).map(([label, result]) => ({ label, count: counts[result], tone: tones[result] })),
      },
      ...(failed.length === 0
        ? []
        : [
            {
              kind: 'table' as const,
              title: 'What failed',
              columns: ['Probe', 'Expected', 'Seen', 'Answer', 'Hint', 'Try it'].map((name) => ({ name })),
              rows: failed.map(({ name, level, known, expected, detail, seen, hint, curl }) => [
                { text: `${name} (${level}${known === true ? ', known' : ''})`, tone: tones.fail },
                expected,
                detail,
                seen?.answer ?? '',
                hint ?? '',
                curl ?? '',
              ]),
            },
          ]),
      {
        kind: 'table',
        title: 'All probes',
        columns: ['Probe', 'Rule', 'Level', 'Result', 'Expected', 'Seen'].map((name) => ({ name })),
        rows: described.map(({ name, rule, level, result, expected, detail }) => [
          name,
          rule,
          level,
          { text: result, tone: tones[result] },
          expected,
          detail,
        ]),
      },
    ],
  };
}

import { type Baseline, baselineText } from '../../check/baseline.ts';
import type { Context } from '../../context.ts';
import { writeWhole } from '../../output/write-whole.ts';
import { junitDocument } from '../../output/junit.ts';
import type { CheckOptions } from './options.ts';
import { junitCases } from './print/junit-cases.ts';
import type { DescribedReport } from './print/described-report.ts';
import type { Summary } from './summarize.ts';

/** The files that were asked for. Throws an `OutputError`. */
export async function writeResults(
  summary: Summary,
  described: readonly DescribedReport[],
  { junit, writeBaseline }: CheckOptions,
  baseline: Baseline | undefined,
  { messages }: Pick<Context, 'messages'>,
): Promise<void> {
  if (junit !== undefined) {
    const { startedAt, ms } = summary;
    await writeWhole(
      junit,
      junitDocument({ name: 'leads check', startedAt, ms, cases: junitCases(summary, described) }),
    );
  }
  if (writeBaseline !== undefined) {
    await writeWhole(writeBaseline, baselineText(summary.reports, baseline));
    messages.say(`wrote ${writeBaseline}: ${summary.counts.fail} known to fail`);
  }
}

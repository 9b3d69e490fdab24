import type { Context } from '../../../context.ts';
import { annotation } from '../../../output/github/annotation.ts';
import { appendToSummary, markdownTable } from '../../../output/github/step-summary.ts';
import { write } from '../../../output/write-stream.ts';
import type { Summary } from '../summarize.ts';
import type { DescribedReport } from './described-report.ts';
import { acceptedText } from './pretty-report.ts';

/**
 * Where GitHub Actions runs this: an annotation for each failure, on stderr, since stdout is data, and a table on the page
 * of the step. Throws an `OutputError`.
 */
export async function reportToGithub(
  target: string,
  summary: Summary,
  described: readonly DescribedReport[],
  { env, stderr }: Pick<Context, 'env' | 'stderr'>,
): Promise<void> {
  const counting = new Set(summary.failures.map(({ probe }) => probe.name));
  if (env['GITHUB_ACTIONS']) {
    const failed = described.filter(({ result }) => result === 'fail');
    for (const { name, expected, detail, hint } of failed) {
      const level = counting.has(name) ? 'error' : 'warning';
      const message = `expected ${expected}; ${detail}${hint === null ? '' : `\n${hint}`}`;
      await write(stderr, `${annotation(level, `leads check ${name}`, message)}\n`);
    }
  }
  const page = env['GITHUB_STEP_SUMMARY'];
  if (page) await appendToSummary(page, summaryPage(target, summary, described));
}

function summaryPage(
  target: string,
  { counts, accepted }: Summary,
  described: readonly DescribedReport[],
): string {
  const { pass, fail, warn, skip } = counts;
  const rows = described
    .filter(({ result }) => result !== 'pass')
    .map(({ name, level, result, expected, detail }) => [name, level, result, expected, detail]);
  return [
    '### leads check\n',
    markdownTable(
      ['receiver', 'passed', 'failed', 'warnings', 'skipped'],
      [[target, ...[pass, fail, warn, skip].map(String)]],
    ),
    ...(rows.length === 0 ? [] : [markdownTable(['probe', 'level', 'result', 'expected', 'seen'], rows)]),
    `${acceptedText(accepted)}\n`,
  ].join('\n');
}

import type { Context } from '../../context.ts';
import { annotation, appendToSummary, markdownTable } from '../../output/github.ts';
import type { TestCase } from '../../output/junit.ts';
import { write } from '../../output/stdout.ts';
import { acceptedText } from './print.ts';
import type { DescribedReport, Summary } from './report.ts';

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

/**
 * Reports as tests: what is a reason for exit 7 fails; what is not, so that no pipeline stops for it, is skipped with what
 * was found.
 */
export function junitCases(summary: Summary, described: readonly DescribedReport[]): TestCase[] {
  const failing = new Set(summary.failures.map(({ probe }) => probe.name));
  return described.map((report) => {
    const { name, group, expected, level, detail, result, seen } = report;
    return {
      className: `leads.check.${group}`,
      name: name.slice(group.length + 1),
      ms: seen?.ms ?? 0,
      outcome: failing.has(name)
        ? { kind: 'failed', type: level, message: `expected ${expected}; ${detail}`, text: textOf(report) }
        : result === 'pass'
          ? { kind: 'passed' }
          : { kind: 'skipped', message: result === 'skip' ? detail : `${result}: ${detail}` },
    };
  });
}

const textOf = ({ expected, detail, seen, hint, curl, rule }: DescribedReport): string =>
  [
    `expected: ${expected} (${rule})`,
    `seen: ${detail}`,
    ...(seen?.answer ? [`answer: ${seen.answer}`] : []),
    ...(hint === null ? [] : [`hint: ${hint}`]),
    ...(curl === null ? [] : [curl]),
  ].join('\n');

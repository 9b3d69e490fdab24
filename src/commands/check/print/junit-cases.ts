import type { TestCase } from '../../../output/junit.ts';
import type { Summary } from '../summarize.ts';
import type { DescribedReport } from './described-report.ts';

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

import { problemClasses } from '../../../audit/audit-finding.ts';
import type { Context } from '../../../context.ts';
import { counted, grouped } from '../../../output/terminal/progress.ts';
import { write } from '../../../output/write-stream.ts';
import type { AuditSummary } from '../summary.ts';

/** One line for a round of `--watch`: when it ended, the counts, and what was found. */
export function printRound(
  { pulled, received, byClass, withoutId, repaired }: AuditSummary,
  { stdout, clock }: Pick<Context, 'stdout' | 'clock'>,
): Promise<void> {
  const found = problemClasses.flatMap((kind) => {
    const count = byClass[kind] ?? 0;
    return count === 0 ? [] : [`${grouped(count)} ${kind}`];
  });
  const unsettled = byClass.unsettled ?? 0;
  const parts = [
    `${counted(pulled, 'lead', 'leads')} pulled, ${grouped(received)} received: ${found.join(', ') || 'no finding'}`,
    ...(repaired === 0 ? [] : [`${grouped(repaired)} repaired`]),
    ...(withoutId === 0 ? [] : [`${grouped(withoutId)} without an id`]),
    ...(unsettled === 0 ? [] : [`${grouped(unsettled)} too young`]),
  ];
  const time = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return write(stdout, `${time}  ${parts.join('; ')}\n`);
}

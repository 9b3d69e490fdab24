import { type Finding, type LeadClass, meanings, problemClasses } from '../../audit/classify-lead.ts';
import type { TestCase } from '../../output/junit.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { writeJunitFile } from '../flags/report-file.ts';
import { type AuditResult, horizonDoubt } from './print.ts';
import { settledState } from './repair.ts';

type TestOutcome = TestCase['outcome'];

/**
 * Writes the file of an audit that did not end, before it begins: however it ends, the file of an earlier run must not look like
 * its result. Throws an `OutputError`, and a `UsageError` for a file that is no JUnit file.
 */
export const writeUnfinishedJunit = (path: string, startedAt: number): Promise<void> => {
  const message = 'the audit did not end';
  const skipped: TestOutcome = { kind: 'skipped', message: 'not known' };
  return writeSuite(path, { startedAt, ms: 0 }, [
    ['complete', { kind: 'failed', type: 'incomplete', message, text: message }],
    ...problemClasses.map((kind) => [kind, skipped] as const),
  ]);
};

/** Writes a test for each class, always the same ones, so that a CI server can show how each of them develops. */
export async function writeJunit(path: string, result: AuditResult, times: Times): Promise<void> {
  const outcomes: (readonly [string, TestOutcome])[] = [['complete', completeness(result)]];
  for (const kind of problemClasses) outcomes.push([kind, await outcomeOf(kind, result)]);
  await writeSuite(path, times, outcomes);
}

interface Times {
  readonly startedAt: number;
  readonly ms: number;
}

const writeSuite = (
  path: string,
  times: Times,
  outcomes: readonly (readonly [name: string, outcome: TestOutcome])[],
): Promise<void> => {
  const cases = outcomes.map(([name, outcome]) => ({ className: 'leads.audit', name, ms: 0, outcome }));
  return writeJunitFile(path, { name: 'leads audit', ...times, cases });
};

/** Says why no class can be judged: nothing is claimed of a list that is not proven, or has no lead. */
function listDoubt({ audit, summary }: AuditResult): string | undefined {
  if (!audit.isProven) return 'the service does not show that its list is complete';
  return summary.pulled > 0 ? undefined : 'the service lists no lead to compare';
}

/** The test of the whole list. A record without a usable id cannot be compared, so that it fails. */
function completeness(result: AuditResult): TestOutcome {
  const { pulled, withoutId } = result.summary;
  const output = `${grouped(pulled)} leads pulled`;
  const horizon = horizonDoubt(result.summary);
  if (horizon !== undefined) return { kind: 'failed', type: 'incomplete', message: horizon, text: horizon };
  if (withoutId > 0) {
    const message = `${counted(withoutId, 'record has', 'records have')} no usable id`;
    return { kind: 'failed', type: 'no-id', message, text: `${message}\n${output}` };
  }
  const doubt = listDoubt(result);
  return doubt === undefined
    ? { kind: 'passed', output }
    : { kind: 'skipped', message: `${output}, and ${doubt}` };
}

const mostListed = 100;

/** The test of a class fails with the first findings that were not repaired and did not come meanwhile. */
async function outcomeOf(kind: LeadClass, result: AuditResult): Promise<TestOutcome> {
  const { audit, summary, settled } = result;
  if (summary.byClass[kind] === null) return { kind: 'skipped', message: 'cannot be told' };
  const listed: string[] = [];
  let open = 0;
  for await (const finding of audit.findings([kind])) {
    if (settledState(finding, settled) !== undefined) continue;
    open += 1;
    if (open <= mostListed) listed.push(lineOf(finding));
  }
  const doubt = listDoubt(result);
  if (open === 0 && doubt !== undefined) return { kind: 'skipped', message: `none was found, and ${doubt}` };
  if (open === 0) return { kind: 'passed' };
  if (open > mostListed) listed.push(`and ${grouped(open - mostListed)} more`);
  const message = `${counted(open, 'lead', 'leads')}: ${meanings[kind]}`;
  return { kind: 'failed', type: kind, message, text: listed.join('\n') };
}

const lineOf = ({ id, createdAt, receivedAt, fields, reason }: Finding): string =>
  [
    id,
    createdAt && `created ${createdAt}`,
    receivedAt && `received ${receivedAt}`,
    fields && `fields ${fields.join(', ')}`,
    reason,
  ]
    .filter((text) => text !== null)
    .join(', ');

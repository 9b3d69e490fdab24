import { sentenceOf } from '../../messages/find-message.ts';
import { type Finding, type FindingClass, problemClasses } from '../../audit/classify-lead.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Context } from '../../context.ts';
import { junitDocument, type TestCase } from '../../output/junit.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import { writeWhole } from '../../output/write-whole.ts';
import type { AuditCommandOptions } from './options.ts';
import type { RepairedFindings } from './repair.ts';
import { type AuditSummary, meanings } from './print.ts';

interface Times {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly ms: number;
}

interface Comparison extends Times {
  /** Why most of it says nothing. */
  readonly doubt: string | undefined;
}

/** Findings that the text of a failed test lists. */
const mostListed = 100;

/**
 * A test for each class, always the same ones, so that a CI server can show how each of them develops; one that failed lists
 * the first findings that were not repaired and did not come. Throws an `OutputError`.
 */
export async function writeJunit(
  path: string,
  audit: Pick<Audit, 'findings' | 'counts'>,
  { byClass, pulled }: AuditSummary,
  settled: Pick<RepairedFindings, 'repaired' | 'arrived'>,
  { doubt, ...times }: Comparison,
): Promise<void> {
  const cases = [testCase('complete', completeness(pulled, audit.counts.withoutId, doubt), times.ms)];
  for (const kind of problemClasses) {
    const count = byClass[kind];
    cases.push(
      testCase(
        kind,
        count === null
          ? { kind: 'skipped', message: 'cannot be told' }
          : await outcomeOf(kind, audit, settled),
      ),
    );
  }
  await writeWhole(path, junitDocument({ name: 'leads audit', ...times, cases }));
}

/** Takes the place of what an earlier run wrote: an audit that came to no end must not look like one that passed. */
async function writeJunitOfFailure(path: string, error: unknown, times: Times): Promise<void> {
  const message = sentenceOf(error);
  const failed = { kind: 'failed', type: 'incomplete', message, text: message } as const;
  const cases = [
    testCase('complete', failed, times.ms),
    ...problemClasses.map((kind) => testCase(kind, { kind: 'skipped', message: 'not known' })),
  ];
  await writeWhole(path, junitDocument({ name: 'leads audit', ...times, cases }));
}

const testCase = (name: string, outcome: TestCase['outcome'], ms = 0): TestCase => ({
  className: 'leads.audit',
  name,
  ms,
  outcome,
});

async function outcomeOf(
  kind: FindingClass,
  audit: Pick<Audit, 'findings'>,
  { repaired, arrived }: Pick<RepairedFindings, 'repaired' | 'arrived'>,
): Promise<TestCase['outcome']> {
  const listed: string[] = [];
  let left = 0;
  let done = 0;
  let came = 0;
  for await (const finding of audit.findings([kind])) {
    if (repaired.has(finding.id)) done += 1;
    else if (arrived.has(finding.id)) came += 1;
    else if ((left += 1) <= mostListed) listed.push(lineOf(finding));
  }
  const notes = [
    ...(done === 0 ? [] : [`${grouped(done)} repaired`]),
    ...(came === 0 ? [] : [`${grouped(came)} came meanwhile`]),
  ];
  if (left === 0) return { kind: 'passed', output: notes.length === 0 ? undefined : notes.join('\n') };
  const more = left > mostListed ? [`and ${grouped(left - mostListed)} more`] : [];
  return {
    kind: 'failed',
    type: kind,
    message: `${counted(left, 'lead', 'leads')}: ${meanings[kind]}`,
    text: [...listed, ...more, ...notes].join('\n'),
  };
}

const lineOf = ({ id, createdAt, receivedAt, fields, reason }: Finding): string =>
  [
    id,
    ...(createdAt === null ? [] : [`created ${createdAt}`]),
    ...(receivedAt === null ? [] : [`received ${receivedAt}`]),
    ...(fields === null ? [] : [`fields ${fields.join(', ')}`]),
    ...(reason === null ? [] : [reason]),
  ].join(', ');

/** Of a record without a usable id nothing is known. */
function completeness(pulled: number, withoutId: number, doubt: string | undefined): TestCase['outcome'] {
  const output = `${grouped(pulled)} leads pulled`;
  if (doubt !== undefined) return { kind: 'failed', type: 'incomplete', message: doubt, text: doubt };
  if (withoutId === 0) return { kind: 'passed', output };
  const message = `${counted(withoutId, 'record has', 'records have')} no usable id`;
  return { kind: 'failed', type: 'no-id', message, text: `${message}\n${output}` };
}

/**
 * Runs a step of an audit that ends before there is a report. Where the step throws, the JUnit file says so, except that
 * Ctrl-C at `--watch` leaves there what the last round wrote. Throws what the step throws, also where the file cannot be
 * written.
 */
export async function withJunitOfFailure<T>(
  { junit, watch }: Pick<AuditCommandOptions, 'junit' | 'watch'>,
  { clock, signal, messages }: Pick<Context, 'clock' | 'signal' | 'messages'>,
  step: () => Promise<T>,
): Promise<T> {
  const startedAt = clock.now();
  try {
    return await step();
  } catch (error) {
    const isEndOfWatch = watch !== undefined && signal.aborted;
    if (junit !== undefined && !isEndOfWatch) {
      const times = { startedAt, ms: clock.now() - startedAt };
      await writeJunitOfFailure(junit, error, times).catch((problem: unknown) =>
        messages.warn(sentenceOf(problem)),
      );
    }
    throw error;
  }
}

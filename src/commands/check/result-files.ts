import { open } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { ProbeReport } from '../../check/run-probes.ts';
import { DataError, UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { readJsonState } from '../../files/json-state.ts';
import { findOutputPlace } from '../../files/output-place.ts';
import { writeWhole } from '../../files/replace.ts';
import { junitDocument, type Report } from '../../output/report.ts';

/** Files that a run writes, by flag, and how one of an earlier run begins. */
const writtenFiles = {
  junit: {
    name: 'JUnit report',
    // Instructions and comments may come first; a byte order mark counts as white space.
    beginsAs: /^\s*(?:<\?(?:[^?]|\?(?!>))*\?>\s*|<!--(?:[^-]|-(?!->))*-->\s*)*<testsuites?[\s/>]/,
  },
  'write-baseline': { name: 'baseline', beginsAs: /^\s*\{[^]*"failing"\s*:\s*\[/ },
} as const;

/**
 * Throws a `UsageError` for an existing file of another kind, which is the operator's, and an `OutputError` for one that cannot be
 * read.
 */
export async function rejectForeignFile(path: string, flag: keyof typeof writtenFiles): Promise<void> {
  const place = await findOutputPlace(path);
  if (place.kind !== 'file' || place.mode === undefined) return;
  const beginning = await withOutputErrors(path, () => beginningOf(place.path));
  const { name, beginsAs } = writtenFiles[flag];
  if (beginning === '' || beginsAs.test(beginning)) return;
  throw new UsageError(`${path} exists and is no ${name}: it is not overwritten`, {
    hint: `name another file with --${flag}, or remove it`,
  });
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(1024);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Throws as `writeBaselineFile` does. */
export async function writeJunitFile(path: string, report: Report): Promise<void> {
  await rejectForeignFile(path, 'junit');
  await writeWhole(path, junitDocument('leads check', report));
}

/** A file that a person wrote may leave the version out. */
const baselineSchema = z.object({ version: z.optional(z.literal(1)), failing: z.array(z.string()) });

/** Throws a `DataError` for a file that is missing or was not written by this program. */
export async function readBaseline(path: string): Promise<ReadonlySet<string>> {
  const stored = await readJsonState(path, baselineSchema, 'baseline');
  if (stored !== undefined) return new Set(stored.failing);
  throw new DataError(`there is no baseline in ${path}`, { hint: `write it with --write-baseline ${path}` });
}

/**
 * Writes what fails in these reports; probes that did not run stay as they were in `previous`. Throws as `rejectForeignFile`
 * does: another file may have come there during the run.
 */
export async function writeBaselineFile(
  path: string,
  reports: readonly ProbeReport[],
  previous: ReadonlySet<string>,
): Promise<void> {
  await rejectForeignFile(path, 'write-baseline');
  const completed = reports.filter(({ finding }) => finding.result !== 'skip');
  const names = new Set(completed.map(({ probe }) => probe.name));
  const failing = [
    ...completed.filter(({ finding }) => finding.result === 'fail').map(({ probe }) => probe.name),
    ...[...previous].filter((name) => !names.has(name)),
  ];
  await writeWhole(path, `${JSON.stringify({ version: 1, failing: failing.sort() }, undefined, 2)}\n`);
}

import { open } from 'node:fs/promises';
import { UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { findOutputPlace } from '../../files/output-place.ts';
import { writeWhole } from '../../files/replace.ts';
import { junitDocument, type TestSuite } from '../../output/junit.ts';

/** By flag: how a file of an earlier run begins. */
const kinds = {
  junit: {
    name: 'JUnit report',
    // Instructions and comments may come first; a byte order mark counts as white space.
    pattern: /^\s*(?:<\?(?:[^?]|\?(?!>))*\?>\s*|<!--(?:[^-]|-(?!->))*-->\s*)*<testsuites?[\s/>]/,
  },
  'write-baseline': { name: 'baseline', pattern: /^\s*\{[^]*"failing"\s*:\s*\[/ },
} as const;

/**
 * Throws a `UsageError` for an existing file of another kind, which is the operator's, and an `OutputError` for one that cannot be
 * read.
 */
export async function rejectForeignFile(path: string, flag: keyof typeof kinds): Promise<void> {
  const place = await findOutputPlace(path);
  if (place.kind !== 'file' || place.mode === undefined) return;
  const beginning = await withOutputErrors(path, () => beginningOf(place.path));
  const { name, pattern } = kinds[flag];
  if (beginning === '' || pattern.test(beginning)) return;
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

/** Writes `--junit FILE`. Throws as `rejectForeignFile` does: another file may have come there during the run. */
export async function writeJunitFile(path: string, suite: TestSuite): Promise<void> {
  await rejectForeignFile(path, 'junit');
  await writeWhole(path, junitDocument(suite));
}

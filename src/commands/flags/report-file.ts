import { open } from 'node:fs/promises';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { withOutputErrors } from '../../files/output-error.ts';
import { findOutputPlace } from '../../files/output-place.ts';
import { writeWhole } from '../../files/replace.ts';
import type { Report } from '../../report/report.ts';
import { reportBeginning, reportHtml } from '../../report/report-html.ts';

/** Before any work. Throws a `UsageError` for a file that is there and is no report, and an `OutputError`. */
export async function checkReportPlace(path: string): Promise<{ readonly isThere: boolean }> {
  const place = await findOutputPlace(path);
  if (place.kind !== 'file' || place.mode === undefined) return { isThere: false };
  const beginning = await withOutputErrors(path, () => beginningOf(place.path));
  if (beginning === '' || beginning === reportBeginning) return { isThere: beginning !== '' };
  throw new UsageError(`${path} exists and is no report: it is not overwritten`, {
    hint: 'name another file with --html, or remove it',
  });
}

async function beginningOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(Buffer.byteLength(reportBeginning));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    return bytes.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Writes `--html FILE`, and says so; a report that is there is replaced. Throws as `checkReportPlace` does. */
export async function writeReport(
  path: string,
  report: Report,
  { messages }: Pick<Context, 'messages'>,
): Promise<void> {
  const { isThere } = await checkReportPlace(path);
  await writeWhole(path, reportHtml(report));
  messages.say(`${isThere ? 'replaced' : 'wrote'} ${path}`);
}

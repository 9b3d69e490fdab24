import type { Context, Outcome } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { type Lock, lock } from '../../files/lock.ts';
import { findOutputPlace, regularFile } from '../../files/output-place.ts';
import { counted, summaryLine } from '../../output/terminal/progress.ts';
import { openService } from '../../service/client/service.ts';
import { filePaths } from './checkpoint.ts';
import type { ExportOptions } from './command.ts';
import { exportToFile } from './to-file.ts';
import { exportToStream } from './to-stream.ts';
import { zeroTotals, type ExportResult } from './plan.ts';

export async function run(options: ExportOptions, context: Context): Promise<Outcome> {
  const { clock, messages, stdout } = context;
  const { output } = options;
  if (output === undefined && stdout.isTTY === true) rejectBinary(options);
  const service = await openService(context);
  const startedAt = clock.now();
  const totals = zeroTotals();
  let result: ExportResult;
  const locks: Lock[] = [];
  try {
    const bookmark = options.bookmark === undefined ? undefined : await regularFile(options.bookmark);
    const request = { service, options: { ...options, bookmark }, context, totals };
    if (bookmark !== undefined) locks.push(await lock(bookmark, context));
    const place = output === undefined ? undefined : await findOutputPlace(output);
    if (place?.kind === 'file') {
      if (place.path === bookmark) throw new UsageError('--bookmark and -o name the same file');
      locks.push(await lock(place.path, context));
      result = await exportToFile(request, filePaths(place));
    } else result = await exportToStream(request, place);
  } finally {
    for (const fileLock of locks) await fileLock.release();
  }
  const durationMs = clock.now() - startedAt;
  const destination = output === undefined ? '' : ` to ${output}`;
  messages.say(summaryLine({ ...totals, ...result, durationMs }, destination));
  if (totals.leftOut.length > 0) throw recordsLeftOut(totals.leftOut);
  return 'done';
}

const mostListed = 10;

function recordsLeftOut(names: readonly string[]): DataError {
  const listed = names.slice(0, mostListed).join(', ');
  const more = names.length > mostListed ? ', …' : '';
  const records = counted(names.length, 'record is', 'records are');
  return new DataError(`${records} not valid JSON and left out: ${listed}${more}`, {
    hint: 'the other leads are written; the service can mend what it sends',
  });
}

/** Throws a `UsageError` for a form that is no text. */
function rejectBinary({ format, gzip }: ExportOptions): void {
  const isWorkbook = format === 'xlsx';
  if (!isWorkbook && !gzip) return;
  throw new UsageError(`${isWorkbook ? '--format xlsx' : '--gzip'} writes no text for a terminal`, {
    hint: `redirect it, or use -o FILE${isWorkbook ? '.xlsx' : ''}`,
  });
}

import type { Audit } from '../../../audit/audit.ts';
import type { Context } from '../../../context.ts';
import { recordWriter, streamSink } from '../../../output/records/record-writer.ts';
import type { AuditSummary } from '../summary.ts';

/** A finding a line, the summary as the last one. */
export async function printJson(
  audit: Pick<Audit, 'findings'>,
  summary: AuditSummary,
  { stdout }: Pick<Context, 'stdout'>,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  const print = (line: object): Promise<void> => writer.write([{ bytes: Buffer.from(JSON.stringify(line)) }]);
  for await (const finding of audit.findings()) await print({ type: 'finding', ...finding });
  await print(summary);
  await writer.end();
}

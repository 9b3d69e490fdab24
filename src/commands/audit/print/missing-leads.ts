import type { Audit } from '../../../audit/audit.ts';
import type { Context } from '../../../context.ts';
import { recordWriter, streamSink } from '../../../output/records/record-writer.ts';
import { counted } from '../../../output/terminal/progress.ts';

/** The missing leads, one a line, in the service's own bytes. */
export async function printMissing(
  audit: Pick<Audit, 'unreceived' | 'counts'>,
  { stdout, messages }: Pick<Context, 'stdout' | 'messages'>,
): Promise<void> {
  const writer = await recordWriter('ndjson', streamSink(stdout), { terminal: stdout.isTTY === true });
  for await (const leads of audit.unreceived('missing')) await writer.write(leads);
  await writer.end();
  const { missing, refused } = audit.counts.byClass;
  messages.say(counted(missing ?? 0, 'lead is missing', 'leads are missing'));
  if ((refused ?? 0) > 0) {
    messages.note(
      'refused',
      `${counted(refused ?? 0, 'lead that came and was rejected is', 'leads that came and were rejected are')} not among them`,
    );
  }
}

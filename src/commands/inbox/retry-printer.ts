import type { Output } from '../../context.ts';
import type { HandedResult } from '../../inbox/inbox.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/write-stream.ts';
import { formatDuration } from '../../time/duration.ts';

export interface RetriedLead extends HandedResult {
  readonly leadId: string;
}

interface RetryPrinter {
  write(retried: RetriedLead): Promise<void>;
  end(): Promise<void>;
}

/** A line for each lead as soon as it was delivered, or failed. */
export async function retryPrinter(
  format: 'table' | 'json' | 'ndjson',
  stdout: Output,
): Promise<RetryPrinter> {
  if (format === 'table') {
    return {
      write: ({ leadId, ok, answer, durationMs }) =>
        write(
          stdout,
          `${ok ? 'delivered' : 'failed   '}  ${sanitize(leadId)}  ${sanitize(answer)}  ${formatDuration(durationMs)}\n`,
        ),
      end: () => Promise.resolve(),
    };
  }
  const writer = await recordWriter(format, streamSink(stdout), { terminal: stdout.isTTY === true });
  return {
    write({ leadId, ok, answer, durationMs, at }) {
      const record = { leadId, ok, answer, durationMs, at: new Date(at).toISOString() };
      return writer.write([{ bytes: Buffer.from(JSON.stringify(record)) }]);
    },
    end: () => writer.end(),
  };
}

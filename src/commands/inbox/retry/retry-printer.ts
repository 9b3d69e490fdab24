import type { Output } from '../../../context.ts';
import { recordWriter, streamSink } from '../../../output/records/record-writer.ts';
import { sanitize } from '../../../output/sanitize.ts';
import { write } from '../../../output/write-stream.ts';
import type { Retried } from '../../../receiver/redelivery/retry-delivery.ts';
import { formatDuration } from '../../../time/duration.ts';

interface RetryPrinter {
  write(retried: Retried): Promise<void>;
  end(): Promise<void>;
}

/** A line for each lead as soon as it was delivered, or failed. */
export async function retryPrinter(
  format: 'table' | 'json' | 'ndjson',
  stdout: Output,
): Promise<RetryPrinter> {
  if (format === 'table') {
    return {
      write({ leadId, ok, isDelivered, answer, durationMs, insteadOf }) {
        const what = isDelivered ? 'delivered' : ok ? 'settled  ' : 'failed   ';
        const parts = [what, leadId, answer, formatDuration(durationMs)];
        if (insteadOf !== undefined) parts.push(`instead of ${insteadOf}`);
        return write(stdout, `${parts.map((part) => sanitize(part)).join('  ')}\n`);
      },
      end: () => Promise.resolve(),
    };
  }
  const writer = await recordWriter(format, streamSink(stdout), { terminal: stdout.isTTY === true });
  return {
    write({ leadId, ok, answer, durationMs, at, insteadOf = null }) {
      const record = { leadId, ok, answer, durationMs, at: new Date(at).toISOString(), insteadOf };
      return writer.write([{ bytes: Buffer.from(JSON.stringify(record)) }]);
    },
    end: () => writer.end(),
  };
}

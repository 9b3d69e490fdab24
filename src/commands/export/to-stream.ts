import { InterruptedError, OutputError, UsageError } from '../../errors.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { type GzipSink, gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink, RecordWriter } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { StatusLine } from '../../output/terminal/status-line.ts';
import { writeBookmark } from './bookmark.ts';
import {
  type Destination,
  type ExportPlan,
  type ExportRequest,
  formOf,
  planExport,
  type Written,
} from './plan.ts';
import { openStreamOutput, standardOutput, type StreamOutput } from './stream-output.ts';
import { exportLeads } from './walk.ts';

/** Writes an export whose bytes cannot be taken back: to stdout, or to a file that is a device or a pipe. */
export async function exportToStream(
  request: ExportRequest,
  place: Exclude<OutputPlace, { kind: 'file' }> | undefined,
): Promise<Written> {
  const { options, context } = request;
  const { output = '' } = options;
  if (options.resume) throw new UsageError(`--resume: ${output} is no file that can be continued`);
  const startedAt = context.clock.now();
  const to = place === undefined ? standardOutput(context) : await openStreamOutput(place, output, context);
  const plan = await planExport(request, startedAt);
  await exportLeads(plan, await openDestination(plan, to));
  return { earlierLeads: 0 };
}

async function openDestination(plan: ExportPlan, output: StreamOutput): Promise<StreamDestination> {
  const { format, gzip } = plan.options;
  const bytes = watched(output.sink);
  const compression = gzip ? gzipSink(bytes) : undefined;
  const form = { ...formOf(plan), terminal: output.isTerminal };
  const records = await recordWriter(format, compression ?? bytes, form);
  return new StreamDestination(plan, { output, bytes, compression, records });
}

interface WatchedSink extends ByteSink {
  /** The failure of a write that was under way when the export was interrupted is reported nowhere else. */
  throwIfFailed(): void;
}

function watched(sink: ByteSink): WatchedSink {
  let failure: unknown;
  return {
    async write(bytes) {
      await sink.write(bytes).catch((error: unknown) => {
        failure ??= error;
        throw error;
      });
    },
    end: () => sink.end(),
    throwIfFailed() {
      if (failure !== undefined) throw failure as Error;
    },
  };
}

interface Parts {
  readonly output: StreamOutput;
  readonly bytes: WatchedSink;
  readonly compression: GzipSink | undefined;
  readonly records: RecordWriter;
}

class StreamDestination implements Destination {
  readonly status: StatusLine | undefined;
  readonly #plan: ExportPlan;
  readonly #parts: Parts;
  /** Counts the leads of the pages that were written whole. */
  #written = 0;

  constructor(plan: ExportPlan, parts: Parts) {
    this.status = parts.output.isTerminal ? undefined : plan.context.status;
    this.#plan = plan;
    this.#parts = parts;
  }

  write(leads: readonly RawLead[]): Promise<void> {
    return this.#parts.records.write(leads);
  }

  async pageEnd(): Promise<void> {
    await this.#parts.records.flush();
    this.#written = this.#plan.totals.leads;
  }

  async walkEnd(): Promise<void> {
    await this.#parts.records.flush();
    await this.#parts.compression?.endMember(1);
    await this.#saveBookmark();
  }

  async end(): Promise<undefined> {
    await this.#parts.records.end();
    await this.#saveBookmark();
  }

  async breakOff(error: unknown, isInterrupted: boolean): Promise<string | undefined> {
    // The output itself is broken.
    const isReaderGone = error instanceof InterruptedError && error.signal === 'SIGPIPE';
    if (isReaderGone || (!isInterrupted && error instanceof OutputError)) return undefined;
    const leads = await this.#endIncomplete();
    if (leads === 0 && !isInterrupted) return undefined;
    return `${counted(leads, 'lead was', 'leads were')} written; the output is incomplete`;
  }

  async close(): Promise<void> {
    await this.#parts.output.close?.();
  }

  async #saveBookmark(): Promise<void> {
    const { options, window, account } = this.#plan;
    if (options.bookmark === undefined || window === undefined) return;
    this.#parts.bytes.throwIfFailed();
    await this.#parts.output.settle?.();
    await writeBookmark(options.bookmark, window.bookmark(account));
  }

  /** Writes what the form allows of the leads that came, and returns how many the output holds. */
  async #endIncomplete(): Promise<number> {
    const { records, compression, bytes } = this.#parts;
    // A workbook without its end cannot be read.
    if (this.#plan.options.format === 'xlsx') return 0;
    try {
      await records.flush();
      await (compression ?? bytes).end();
      bytes.throwIfFailed();
      return this.#plan.totals.leads;
    } catch {
      // The failure that broke the export off is the one to report.
      return compression === undefined ? this.#written : 0;
    }
  }
}

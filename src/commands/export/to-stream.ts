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
  type ExportPlan,
  type ExportRequest,
  writerOptionsOf,
  planExport,
  type ExportResult,
} from './plan.ts';
import { openStreamOutput, standardOutput, type StreamOutput } from './stream-output.ts';
import { type Destination, exportLeads } from './walk.ts';

/** Writes an export whose bytes cannot be taken back: to stdout, or to a file that is a device or a pipe. */
export async function exportToStream(
  request: ExportRequest,
  place: Exclude<OutputPlace, { kind: 'file' }> | undefined,
): Promise<ExportResult> {
  const { options, context } = request;
  const { output = '' } = options;
  if (options.resume) throw new UsageError(`--resume: ${output} is no file that can be continued`);
  const startedAt = context.clock.now();
  const stream =
    place === undefined ? standardOutput(context) : await openStreamOutput(place, output, context);
  const plan = await planExport(request, startedAt);
  await exportLeads(plan, await openDestination(plan, stream));
  return { earlierLeads: 0 };
}

async function openDestination(plan: ExportPlan, stream: StreamOutput): Promise<StreamDestination> {
  const { format, gzip } = plan.options;
  const bytes = failureKeeping(stream.sink);
  const compression = gzip ? gzipSink(bytes) : undefined;
  const writerOptions = { ...writerOptionsOf(plan), terminal: stream.isTerminal };
  const records = await recordWriter(format, compression ?? bytes, writerOptions);
  return new StreamDestination(plan, { stream, bytes, compression, records });
}

interface FailureKeepingSink extends ByteSink {
  /** Throws the failure of the first write that failed: no caller waits for a write that was under way at an interruption. */
  throwIfFailed(): void;
}

function failureKeeping(sink: ByteSink): FailureKeepingSink {
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

/** `records` writes to `compression` if there is one, which writes to `bytes`, which writes to `stream`. */
interface Parts {
  readonly stream: StreamOutput;
  readonly bytes: FailureKeepingSink;
  readonly compression: GzipSink | undefined;
  readonly records: RecordWriter;
}

/** Writes as it goes, and moves the bookmark when a walk is complete and its leads have left. */
class StreamDestination implements Destination {
  readonly status: StatusLine | undefined;
  readonly #plan: ExportPlan;
  readonly #parts: Parts;
  #leadsOfWholePages = 0;

  constructor(plan: ExportPlan, parts: Parts) {
    this.status = parts.stream.isTerminal ? undefined : plan.context.status;
    this.#plan = plan;
    this.#parts = parts;
  }

  write(leads: readonly RawLead[]): Promise<void> {
    return this.#parts.records.write(leads);
  }

  async pageEnd(): Promise<void> {
    await this.#parts.records.flush();
    this.#leadsOfWholePages = this.#plan.totals.leads;
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
    const isReaderGone = error instanceof InterruptedError && error.signal === 'SIGPIPE';
    const isOutputBroken = isReaderGone || (!isInterrupted && error instanceof OutputError);
    if (isOutputBroken) return undefined;
    const leads = await this.#endIncomplete();
    if (leads === 0 && !isInterrupted) return undefined;
    return `${counted(leads, 'lead was', 'leads were')} written; the output is incomplete`;
  }

  async close(): Promise<void> {
    await this.#parts.stream.close?.();
  }

  async #saveBookmark(): Promise<void> {
    const { options, window, account } = this.#plan;
    if (options.bookmark === undefined || window === undefined) return;
    this.#parts.bytes.throwIfFailed();
    await this.#parts.stream.sync?.();
    await writeBookmark(options.bookmark, window.bookmark(account));
  }

  /** Ends the output after a failure, as far as its format can end early, and returns how many leads it holds. */
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
      // Not thrown: the failure that ended the export is the one to report. A compressed file that is cut cannot be read.
      return compression === undefined ? this.#leadsOfWholePages : 0;
    }
  }
}

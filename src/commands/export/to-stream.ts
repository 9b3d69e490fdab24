import { fstat, write } from 'node:fs';
import { open } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import type { Context } from '../../context.ts';
import { InterruptedError, OutputError, UsageError } from '../../errors.ts';
import { writeBookmark } from './bookmark.ts';
import { withOutputErrors } from '../../files/output-error.ts';
import type { OutputPlace } from '../../files/output-place.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter, streamSink } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { Service } from '../../service/client/service.ts';
import { openFifo, pipeSink } from './pipe-sink.ts';
import type { ExportOptions } from './options.ts';
import { type ExportContext, type ExportPlan, planExport } from './plan.ts';
import { type Destination, exportLeads, type Totals, type Written } from './walk.ts';

/** An export whose bytes cannot be taken back: to stdout, or to a file that is a device or a pipe. */
export async function exportToStream(
  service: Service,
  options: ExportOptions,
  context: Context,
  totals: Totals,
  place: Exclude<OutputPlace, { kind: 'file' }> | undefined,
): Promise<Written> {
  const { output = '' } = options;
  if (options.resume) throw new UsageError(`--resume: ${output} is no file that can be continued`);
  const startedAt = context.clock.now();
  const to = place === undefined ? standardOutput(context) : await openStreamOutput(place, output, context);
  const plan = await planExport(service, options, startedAt);
  await exportLeads(plan, context, totals, await streamDestination(plan, context, totals, to));
  return { before: 0 };
}

async function streamDestination(
  { options, window, account }: ExportPlan,
  context: ExportContext,
  totals: Totals,
  { sink, isTerminal, close }: StreamOutput,
): Promise<Destination> {
  const { format, fields, gzip, escape, bom, bookmark, follow } = options;
  const compressed = gzip ? gzipSink(sink) : undefined;
  const records = await recordWriter(format, compressed ?? sink, {
    fields,
    terminal: isTerminal,
    escapeFormulas: escape,
    byteOrderMark: bom,
  });
  let written = 0;
  const saveBookmark = async (): Promise<void> => {
    if (bookmark !== undefined && window !== undefined)
      await writeBookmark(bookmark, window.bookmark(account));
  };
  /** The leads that the output holds when an export breaks off: as far as the form allows, all that came. */
  const leaveIncomplete = async (): Promise<number> => {
    // The columns of a CSV file are known at the end only: until then nothing is written.
    if (format === 'csv' && fields === undefined) return 0;
    try {
      await records.flush();
      await (compressed ?? sink).end();
      return totals.leads;
    } catch {
      return compressed === undefined ? written : 0;
    }
  };
  return {
    status: isTerminal ? undefined : context.status,
    write: (leads) => records.write(leads),
    async pageEnd() {
      await records.flush();
      written = totals.leads;
    },
    async walkEnd() {
      await records.flush();
      await saveBookmark();
    },
    async end() {
      await records.end();
      if (follow === undefined) await saveBookmark();
      return undefined;
    },
    async breakOff(error, isInterrupted) {
      // What broke is the output itself.
      const isReaderGone = error instanceof InterruptedError && error.signal === 'SIGPIPE';
      if (isReaderGone || (!isInterrupted && error instanceof OutputError)) return undefined;
      const leads = await leaveIncomplete();
      if (leads === 0 && !isInterrupted) return undefined;
      return `${counted(leads, 'lead was', 'leads were')} written; the output is incomplete`;
    },
    close: async () => close?.(),
  };
}

/** Where bytes go that cannot be taken back. */
interface StreamOutput {
  readonly sink: ByteSink;
  readonly isTerminal: boolean;
  /** However the export ends, also before the end of the sink; undefined for what others have opened. */
  readonly close?: () => Promise<void>;
}

/** `name` is how the user called it. Throws an `OutputError` when it cannot be written. */
async function openStreamOutput(
  place: Exclude<OutputPlace, { kind: 'file' }>,
  name: string,
  context: ExportContext,
): Promise<StreamOutput> {
  if (place.kind === 'descriptor') return openDescriptor(place.fd, name, context);
  if (place.kind === 'fifo') {
    return { sink: pipeSink(await openFifo(place.path, context), name, context), isTerminal: false };
  }
  const file = await withOutputErrors(name, () => open(place.path, 'w'));
  return {
    isTerminal: isatty(file.fd),
    sink: {
      write: (bytes) => withOutputErrors(name, () => file.writeFile(bytes)),
      end: () => file.close(),
    },
    close: () => file.close(),
  };
}

const standardOutput = ({ stdout }: Pick<ExportContext, 'stdout'>): StreamOutput => ({
  sink: streamSink(stdout),
  isTerminal: stdout.isTTY === true,
});

/** What the shell opened stays open: it belongs to the shell, and may be written to by others. */
async function openDescriptor(fd: number, name: string, context: ExportContext): Promise<StreamOutput> {
  if (fd === 1) return standardOutput(context);
  const found = await withOutputErrors(name, () => promisify(fstat)(fd));
  if (found.isFIFO() || found.isSocket()) return { sink: pipeSink(fd, name, context), isTerminal: false };
  const writeSome = promisify(write);
  return {
    isTerminal: isatty(fd),
    sink: {
      async write(bytes) {
        await withOutputErrors(name, async () => {
          for (let done = 0; done < bytes.length;) {
            done += (await writeSome(fd, bytes, done, bytes.length - done)).bytesWritten;
          }
        });
      },
      end: () => Promise.resolve(),
    },
  };
}

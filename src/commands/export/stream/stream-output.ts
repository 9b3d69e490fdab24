import { fstat, write } from 'node:fs';
import { open } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { withOutputErrors } from '../../../files/output-error.ts';
import type { OutputPlace } from '../../../files/output-place.ts';
import { streamSink } from '../../../output/records/record-writer.ts';
import type { ByteSink } from '../../../output/records/record-types.ts';
import type { ExportContext } from '../plan.ts';
import { openFifo, pipeSink } from './pipe-sink.ts';

/** Where bytes go that cannot be taken back. */
export interface StreamOutput {
  readonly sink: ByteSink;
  readonly isTerminal: boolean;
  /** However the export ends, also before the end of the sink; undefined for what others have opened. */
  readonly close?: () => Promise<void>;
}

/** `name` is how the user called it. Throws an `OutputError` when it cannot be written. */
export async function openStreamOutput(
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

export const standardOutput = ({ stdout }: Pick<ExportContext, 'stdout'>): StreamOutput => ({
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

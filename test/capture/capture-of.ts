import { readFile } from 'node:fs/promises';
import type { Capture, CaptureOptions } from '../../src/capture/capture.ts';
import { readCapture } from '../../src/capture/read-capture.ts';

/** Reads a capture; files that it names are read from this machine. */
export const captureOf = (
  content: string | Uint8Array,
  options: Partial<CaptureOptions> = {},
): Promise<Capture> =>
  readCapture(typeof content === 'string' ? Buffer.from(content) : content, {
    entry: undefined,
    credentialHeaders: ['x-webhook-token'],
    readFile: (path) => readFile(path),
    ...options,
  });

export const bodyOf = ({ body }: Capture): string | undefined =>
  body === undefined ? undefined : Buffer.from(body).toString();

/** What it does not hold exactly. */
export const lacks = ({ notes }: Capture): readonly unknown[] => notes.map(({ message }) => message);

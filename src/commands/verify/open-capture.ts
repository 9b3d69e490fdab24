import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { unreadable } from '../../files/errors.ts';
import { type Capture, targetOf, valueOf } from '../../capture/capture.ts';
import { readCapture } from '../../capture/read-capture.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { Scheme } from '../../webhook/scheme.ts';
import type { VerifyOptions } from './command.ts';

/**
 * The delivery to check: from a file, stdin, the inbox or flags alone, and what flags say in its place.
 * `credentialHeaders`: by which it is recognized among several requests.
 */
export async function openCapture(
  options: VerifyOptions,
  credentialHeaders: readonly string[],
  context: Context,
): Promise<Capture> {
  const capture = await capturedBy(options, credentialHeaders, context);
  const { header: headers, url = capture.url } = options;
  const names = headers.map(([name]) => name.toLowerCase());
  const isReplaced = (name: string): boolean => names.includes(name.toLowerCase());
  const body = options.body === undefined ? undefined : await readBounded(options.body, 'the body', context);
  return {
    ...capture,
    url,
    path: (options.url === undefined ? undefined : targetOf(options.url)) ?? capture.path,
    rawHeaders: [...capture.rawHeaders.filter(([name]) => !isReplaced(name)), ...headers],
    withheld: (capture.withheld ?? []).filter((name) => !isReplaced(name)),
    body: body ?? capture.body,
    notes: capture.notes.filter(({ about }) =>
      about === 'body' ? body === undefined : about !== 'headers' || headers.length === 0,
    ),
  };
}

async function capturedBy(
  options: VerifyOptions,
  credentialHeaders: readonly string[],
  context: Context,
): Promise<Capture> {
  const { file, id, body, header, entry } = options;
  if (id !== undefined) {
    const { storedCapture } = await import('./stored-capture.ts');
    return storedCapture(id, options, context);
  }
  if (file === undefined && (body !== undefined || header.length > 0)) return fromFlags;
  const bytes = await readBounded(file ?? '-', 'the capture', context);
  const readFile = (path: string): Promise<Uint8Array> => {
    // A stranger wrote the capture, and reading a device or a pipe may never end.
    const isOther = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    if (isOther) throw new DataError(`the body that the capture names is no file: ${path}`);
    return readBounded(path, 'the body that the capture names', context, 'give it with --body FILE');
  };
  return readCapture(bytes, { entry, credentialHeaders, readFile });
}

const fromFlags: Capture = {
  form: 'flags',
  method: 'POST',
  url: undefined,
  path: '/',
  rawHeaders: [],
  body: undefined,
  capturedAt: undefined,
  notes: [],
};

/** Throws a `UsageError` where nothing names a capture and stdin is a terminal, or gives a secret. */
export function rejectMissingCapture(options: VerifyOptions, { stdin }: Pick<Context, 'stdin'>): void {
  const { file, id, body, header, secretFile, tokenFile } = options;
  if (file !== undefined || id !== undefined || body !== undefined || header.length > 0) return;
  if (stdin.isTTY !== true && ![...secretFile, ...tokenFile].includes('-')) return;
  throw new UsageError('no capture is named', {
    hint: "give a FILE, - for stdin, --id of the inbox, or --body with --header; see 'leads verify --help'",
  });
}

/** In bytes. A HAR of a long session has tens of megabytes; one delivery has at most a few. */
const mostBytes = 64 * 1024 * 1024;

/** A file, or stdin for `-`. Throws a `DataError` for what is too large or cannot be read; `subject` names it there. */
async function readBounded(
  file: string,
  subject: string,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
  hint?: string,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, file === '-' ? stdin : createReadStream(file))) {
      const bytes = Buffer.from(chunk as Uint8Array | string);
      size += bytes.length;
      if (size > mostBytes) {
        const message = `${subject} is larger than ${mostBytes / 1024 / 1024} MiB`;
        throw new DataError(message, { hint: 'save only the request that is meant' });
      }
      chunks.push(bytes);
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof DataError
      ? cause
      : new DataError(unreadable(`${subject} in ${file}`, cause), { cause, hint });
  }
  return Buffer.concat(chunks);
}

/** The bytes that are checked. Throws a `DataError` where the capture holds no body and the scheme needs one. */
export function checkedBody(
  { body, rawHeaders, notes }: Capture,
  scheme: Scheme,
): { readonly body: Uint8Array; readonly notes: readonly string[] } {
  if (body === undefined) {
    if (scheme.ignoresBody === true) return { body: new Uint8Array(), notes: [] };
    const note = notes.find(({ about }) => about === 'body');
    throw new DataError(note?.message ?? 'the capture holds no body', {
      hint: 'what is signed is the exact bytes of the body: --body FILE',
    });
  }
  const length = valueOf(rawHeaders, 'content-length') ?? '';
  if (!/^\d{1,15}$/.test(length) || Number(length) === body.length) return { body, notes: [] };
  const sizes = `content-length says ${length} bytes and the body here has ${body.length}`;
  return { body, notes: [`${sizes}: it is not the body that was sent`] };
}

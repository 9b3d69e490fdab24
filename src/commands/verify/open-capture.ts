import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { unreadable } from '../../files/errors.ts';
import { bodyNote, type Capture, type CaptureNote, targetOf, valueOf } from '../../capture/capture.ts';
import { readCapture } from '../../capture/read-capture.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { type BodyFormName, bodyForms, bodyFormTexts } from '../../webhook/explain/body-forms.ts';
import type { Scheme } from '../../webhook/scheme.ts';
import type { VerifyOptions } from './options.ts';

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
  const { header: headers, method = capture.method, url = capture.url } = options;
  const names = headers.map(([name]) => name.toLowerCase());
  const isReplaced = (name: string): boolean => names.includes(name.toLowerCase());
  const body = options.body === undefined ? undefined : await readBounded(options.body, 'the body', context);
  return {
    ...capture,
    method: method.toUpperCase(),
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
  const readFile = (path: string): Promise<Uint8Array> => readNamedFile(path, context);
  return readCapture(bytes, { entry, credentialHeaders, readFile });
}

const fromFlags: Capture = {
  form: 'flags',
  method: 'POST',
  url: undefined,
  path: '/',
  rawHeaders: [],
  body: undefined,
  at: undefined,
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

/**
 * A file, or stdin for `-`, read up to a limit: what is larger is no capture. Throws a `DataError` for what is too large or
 * cannot be read. `what` names it in the error.
 */
async function readBounded(
  file: string,
  what: string,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const stream = addAbortSignal(signal, file === '-' ? stdin : createReadStream(file));
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk as Uint8Array | string);
      size += bytes.length;
      if (size > mostBytes) throw tooLarge(what);
      chunks.push(bytes);
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    signal.throwIfAborted();
    throw unreadableFile(file, what, cause);
  }
  return Buffer.concat(chunks);
}

/**
 * Reads a file that a capture names, which must be a regular file: a stranger wrote the capture, and reading a
 * device or a pipe may never end.
 */
async function readNamedFile(file: string, context: Pick<Context, 'stdin' | 'signal'>): Promise<Buffer> {
  const what = 'the body that the capture names';
  try {
    const handle = await open(file, 'r');
    try {
      if (!(await handle.stat()).isFile()) throw new DataError(`${what} is no file: ${file}`);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof DataError) throw cause;
    throw unreadableFile(file, what, cause);
  }
  return readBounded(file, what, context);
}

const tooLarge = (what: string): DataError =>
  new DataError(`${what} is larger than ${mostBytes / 1024 / 1024} MiB`, {
    hint: 'save only the request that is meant',
  });

function unreadableFile(file: string, what: string, cause: unknown): DataError {
  const { code } = cause as NodeJS.ErrnoException;
  if (code !== 'ENOENT' || what === 'the capture')
    return new DataError(unreadable(`${what} in ${file}`, cause), { cause });
  const message = `cannot read ${what} in ${file}: there is no such file`;
  return new DataError(message, { cause, hint: 'give it with --body FILE' });
}

/**
 * The bytes that are checked: those of the capture, or, for `--body-form`, the same as another program writes them. Throws
 * a `DataError` where the capture holds no body and the scheme needs one.
 */
export function bodyAsAsked(
  capture: Capture,
  scheme: Scheme,
  form: BodyFormName | undefined,
): { readonly body: Uint8Array; readonly notes: readonly CaptureNote[] } {
  const { body, rawHeaders } = capture;
  if (body === undefined) {
    const [note] = capture.notes.filter(({ about }) => about === 'body');
    if (scheme.ignoresBody === true) return { body: new Uint8Array(), notes: [] };
    throw new DataError(note === undefined ? 'the capture holds no body' : note.found, {
      hint: 'what is signed is the exact bytes of the body: --body FILE',
    });
  }
  const length = valueOf(rawHeaders, 'content-length');
  const isOther = length !== undefined && /^\d{1,15}$/.test(length) && Number(length) !== body.length;
  const notes = isOther
    ? [
        bodyNote(
          `content-length says ${length} bytes and the body here has ${body.length}: it is not the body that was sent`,
        ),
      ]
    : [];
  if (form === undefined) return { body, notes };
  const rewritten = bodyForms(body).find(({ name }) => name === form);
  if (rewritten !== undefined) {
    return {
      body: rewritten.bytes,
      notes: [bodyNote(`checked is not the body as it came, but ${bodyFormTexts[rewritten.name]}`)],
    };
  }
  return { body, notes: [...notes, bodyNote(`--body-form ${form} changes nothing in this body`)] };
}

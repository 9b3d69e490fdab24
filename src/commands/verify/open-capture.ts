import { createReadStream, statSync } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { unreadable } from '../../files/errors.ts';
import { bodyNote, type Capture, headerIn } from '../../capture/capture.ts';
import { readCapture } from '../../capture/read-capture.ts';
import type { Context } from '../../context.ts';
import { DataError, LeadNotFoundError, UsageError } from '../../errors.ts';
import type { StoredDelivery } from '../../inbox/inbox.ts';
import { maxRejectedBody } from '../../inbox/store-options.ts';
import type { Scheme } from '../../webhook/scheme.ts';
import type { InboxFlags } from '../flags/shared-flags.ts';
import { withInboxReader } from '../flags/resolve-inbox.ts';
import type { VerifyOptions } from './command.ts';

/** Throws a `UsageError` where nothing names a capture and stdin is a terminal, or gives a secret. */
export function rejectMissingCapture(options: VerifyOptions, { stdin }: Pick<Context, 'stdin'>): void {
  const { file, id, body, header, secretFile, tokenFile } = options;
  if (file !== undefined || id !== undefined || body !== undefined || header.length > 0) return;
  if (stdin.isTTY !== true && ![...secretFile, ...tokenFile].includes('-')) return;
  throw new UsageError('no capture is named', {
    hint: "give a FILE, - for stdin, --id of the inbox, or --body with --header; see 'leads help verify'",
  });
}

/**
 * The delivery to check, from a file, stdin, the inbox or flags alone. A part that a flag gives replaces that of the capture, and
 * the notes on it. `credentialHeaders`: by which the delivery is recognized among several requests.
 */
export async function openCapture(
  options: VerifyOptions,
  credentialHeaders: readonly string[],
  context: Context,
): Promise<Capture> {
  const capture = await readSource(options, credentialHeaders, context);
  const { header: headers, url = capture.url, entry = 1 } = options;
  const isOneRequest = ['flags', 'a raw HTTP request', 'a curl command'].includes(capture.form);
  if (isOneRequest && entry > 1) throw new UsageError(`--entry ${entry}: the capture holds 1`);
  const names = headers.map(([name]) => name.toLowerCase());
  const isReplaced = (name: string): boolean => names.includes(name.toLowerCase());
  const body = options.body === undefined ? undefined : await readBounded(options.body, 'the body', context);
  const rawHeaders = [...capture.rawHeaders.filter(([name]) => !isReplaced(name)), ...headers];
  const redacted = rawHeaders.filter(([, value]) => value.includes('[redacted]'));
  return {
    ...capture,
    url,
    rawHeaders,
    withheld: [
      ...(capture.withheld ?? []).filter((name) => !isReplaced(name)),
      ...redacted.map(([name]) => name.toLowerCase()),
    ],
    body: body ?? capture.body,
    notes: capture.notes.filter(({ about }) => {
      if (about === 'body') return body === undefined;
      return about !== 'headers' || headers.length === 0;
    }),
  };
}

async function readSource(
  options: VerifyOptions,
  credentialHeaders: readonly string[],
  context: Context,
): Promise<Capture> {
  const { file, id, body, header, entry } = options;
  if (id !== undefined) return storedCapture(id, options, context);
  if (file === undefined && (body !== undefined || header.length > 0)) return emptyCapture;
  const bytes = await readBounded(file ?? '-', 'the capture', context);
  const readFile = (path: string): Promise<Uint8Array> => {
    // A stranger wrote the capture, and reading a device or a pipe may never end.
    const isNoFile = statSync(path, { throwIfNoEntry: false })?.isFile() === false;
    if (isNoFile) throw new DataError(`the body that the capture names is no file: ${path}`);
    return readBounded(path, 'the body that the capture names', context, 'give it with --body FILE');
  };
  return readCapture(bytes, { entry, credentialHeaders, readFile });
}

const emptyCapture: Capture = { form: 'flags', method: 'POST', path: '/', rawHeaders: [], notes: [] };

/**
 * Reads the delivery with this number or, if none has it, the newest one of the lead with this id. Throws a
 * `LeadNotFoundError` where neither is stored.
 */
async function storedCapture(id: string, flags: InboxFlags, context: Context): Promise<Capture> {
  const deliveries = await withInboxReader(flags, context, async (inbox) => {
    const matches: StoredDelivery[] = [];
    // More digits may not fit into a safe integer, and the id of a lead may be a number too.
    const filters = /^\d{1,15}$/.test(id) ? [{ seq: Number(id) }, { leadId: id }] : [{ leadId: id }];
    for (const filter of filters) {
      for await (const delivery of inbox.list(filter)) matches.push(delivery);
      if (matches.length > 0) break;
    }
    return matches;
  });
  const [newest, ...older] = deliveries ?? [];
  if (newest === undefined)
    throw new LeadNotFoundError(`the inbox has no delivery '${id}'`, { hint: "see 'leads inbox list'" });
  return captureOf(newest, older.length);
}

function captureOf(stored: StoredDelivery, olderCount: number): Capture {
  const { seq, receivedAt, verdict, status, reason, detail, source, method, path, headers, body } = stored;
  const host = headerIn(headers, 'host');
  const outcome = `${verdict}, ${status}${reason === undefined ? '' : ` ${reason}`}`;
  const older = `the newest of ${olderCount + 1} deliveries of this lead; --id NUMBER takes another`;
  const fetched = 'it was fetched from the service, not pushed: nothing was signed';
  const remarks = [
    ...(olderCount > 0 ? [older] : []),
    ...(source === 'backfill' ? [fetched] : []),
    `when it came, it was ${outcome}${detail === undefined ? '' : `: ${detail}`}`,
  ];
  const mayBeCut = (verdict === 'rejected' || verdict === 'other') && body.length === maxRejectedBody;
  const limit = `the inbox keeps only the first ${maxRejectedBody / 1024} KiB of a body without a lead that was taken`;
  return {
    form: `delivery ${seq} of the inbox`,
    method,
    // Deliveries come by HTTPS (specification, section 4.2).
    url: host === undefined ? undefined : `https://${host}${path}`,
    path,
    rawHeaders: headers,
    body,
    capturedAt: receivedAt,
    notes: [
      ...remarks.map((message) => ({ about: 'delivery', message }) as const),
      ...(mayBeCut ? [bodyNote(limit)] : []),
    ],
  };
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
export function checkedBody({ body, notes }: Capture, scheme: Scheme): Uint8Array {
  if (body !== undefined) return body;
  if (scheme.ignoresBody === true) return new Uint8Array();
  const note = notes.find(({ about }) => about === 'body');
  throw new DataError(note?.message ?? 'the capture holds no body', {
    hint: 'what is signed is the exact bytes of the body: --body FILE',
  });
}

/** A remark on a body of another length than the header says. */
export function lengthNotes({ body, rawHeaders }: Capture): readonly string[] {
  const length = headerIn(rawHeaders, 'content-length') ?? '';
  if (body === undefined || !/^\d{1,15}$/.test(length) || Number(length) === body.length) return [];
  const sizes = `content-length says ${length} bytes and the body here has ${body.length}`;
  return [`${sizes}: it is not the body that was sent`];
}

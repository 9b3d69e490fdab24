import { type Capture, targetOf } from '../../../capture/capture.ts';
import { readCapture } from '../../../capture/read-capture.ts';
import type { Context } from '../../../context.ts';
import { UsageError } from '../../../errors.ts';
import type { VerifyOptions } from '../options.ts';
import { readBounded, readNamedFile } from './read-bounded.ts';

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
  const { header: given, method = capture.method, url = capture.url } = options;
  const names = given.map(([name]) => name.toLowerCase());
  const isReplaced = (name: string): boolean => names.includes(name.toLowerCase());
  const body = options.body === undefined ? undefined : await readBounded(options.body, 'the body', context);
  return {
    ...capture,
    method: method.toUpperCase(),
    url,
    path: (options.url === undefined ? undefined : targetOf(options.url)) ?? capture.path,
    rawHeaders: [...capture.rawHeaders.filter(([name]) => !isReplaced(name)), ...given],
    withheld: (capture.withheld ?? []).filter((name) => !isReplaced(name)),
    body: body ?? capture.body,
    notes: capture.notes.filter(({ about }) =>
      about === 'body' ? body === undefined : about !== 'headers' || given.length === 0,
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

/** Throws a `UsageError` for flags that name no capture, or two. */
export function rejectConflicts(options: VerifyOptions, { stdin }: Pick<Context, 'stdin'>): void {
  const { file, id, body, header, entry, secretFile, tokenFile } = options;
  if (id !== undefined && (file !== undefined || entry !== undefined)) {
    throw new UsageError('--id takes a delivery of the inbox: it goes with neither FILE nor --entry');
  }
  const isBare = file === undefined && id === undefined && body === undefined && header.length === 0;
  if (isBare && stdin.isTTY === true) {
    throw new UsageError('no capture is named', {
      hint: "give a FILE, - for stdin, --id of the inbox, or --body with --header; see 'leads verify --help'",
    });
  }
  const readers = [isBare ? '-' : file, body, ...secretFile, ...tokenFile].filter((name) => name === '-');
  if (readers.length > 1) throw new UsageError('stdin (-) can be read once only');
}

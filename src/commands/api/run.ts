import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import { extraHeadersOf } from '../../config/extra-headers.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { Call } from '../../service/client/send-request.ts';
import { rawCall } from '../../service/client/raw-call.ts';
import { openService } from '../../service/client/service.ts';
import { type Completion, IncompleteError } from '../../service/listing/incomplete-error.ts';
import { rawPages } from '../../service/listing/raw-pages.ts';
import { requestParamsOf, urlBelow } from '../../service/pagination/request-params.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { AnswerPrinter } from './answer-printer.ts';
import { type ApiOptions, bodyOf, type Field, rejectContradictions } from './options.ts';

export async function run(options: ApiOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const { method, path, field, include, paginate } = options;
  const settings = await context.settings();
  const isReading = method === 'GET' || method === 'HEAD';
  const url = callUrl(settings.account().baseUrl, path, isReading ? field : []);
  const body = await requestBody(options, context);
  const service = await openService(context);
  const isAccepting = extraHeadersOf(service.dialect)['accept'] !== undefined;
  const call: Call = { method, url, headers: headersOf(options, body !== undefined, isAccepting), body };
  const printer = new AnswerPrinter(context);
  // A filter is written for the answer that was hoped for; what an error says is in the message.
  const isFiltered = options.jq !== undefined;
  if (paginate) {
    const params = requestParamsOf(service.account.baseUrl, service.dialect, url);
    const pages = rawPages(service, params, call.headers, context.signal);
    let page = await pages.next();
    for (; page.done !== true; page = await pages.next()) {
      const { answer, body: bytes } = page.value;
      if (answer.failure !== undefined && isFiltered) continue;
      if (include) await printer.printHead(answer);
      await printer.printBody(answer, [bytes]);
    }
    await printer.end();
    rejectUnproven(page.value);
    return 'done';
  }
  const answer = await rawCall(service, call, context.signal);
  if (answer.failure !== undefined && isFiltered) throw answer.failure;
  if (include) await printer.printHead(answer);
  await printer.printBody(answer, answer.body);
  await printer.end();
  if (answer.failure !== undefined) throw answer.failure;
  return 'done';
}

/** Those of `--header` take the place of ours, and so does an `accept` of the profile. */
function headersOf({ header }: ApiOptions, hasBody: boolean, isAccepting: boolean): Record<string, string> {
  const typed = header.map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    ...(isAccepting ? {} : { accept: 'application/json, */*;q=0.5' }),
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
    ...Object.fromEntries(typed),
  };
}

function rejectUnproven(end: Completion): void {
  if (end.kind === 'complete') return;
  throw new IncompleteError(end, 'pages');
}

/**
 * The address of a call: a path below the base URL, or a whole URL of its origin. Throws a `UsageError` for any other,
 * since the key would go along.
 */
function callUrl(baseUrl: URL, path: string, query: readonly Field[]): URL {
  const url = addressOf(baseUrl, path);
  if (url?.origin !== baseUrl.origin) {
    const where = url === undefined || url.origin === 'null' ? 'no http address' : url.origin;
    throw new UsageError(`'${path}' is at ${where}: the API key is for ${baseUrl.origin} only`, {
      hint: 'give a path such as /api/leads, or another --profile',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('the URL holds a user name or password', { hint: 'leave it out' });
  }
  url.hash = '';
  for (const { name, text } of query) url.searchParams.append(name, text);
  return url;
}

/** A path that begins with two slashes names another host, as in a browser. */
function addressOf(baseUrl: URL, path: string): URL | undefined {
  if (!/^([a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(path)) {
    return urlBelow(baseUrl, path.startsWith('/') ? path : `/${path}`);
  }
  return URL.canParse(path, baseUrl.href) ? new URL(path, baseUrl) : undefined;
}

/** What a call sends: a file's bytes, or the fields as JSON. Throws a `DataError` for a file that cannot be read. */
async function requestBody(
  { method, input, field }: Pick<ApiOptions, 'method' | 'input' | 'field'>,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
): Promise<Uint8Array | undefined> {
  if (input === undefined) {
    const isQuery = method === 'GET' || method === 'HEAD' || field.length === 0;
    return isQuery ? undefined : Buffer.from(bodyOf(field));
  }
  const chunks: Buffer[] = [];
  try {
    const stream = addAbortSignal(signal, input === '-' ? stdin : createReadStream(input));
    for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array | string));
  } catch (cause) {
    signal.throwIfAborted();
    const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new DataError(`cannot read the body from ${input}: ${reason}`, { cause });
  }
  return Buffer.concat(chunks);
}

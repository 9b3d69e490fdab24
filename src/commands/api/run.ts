import { unreadable } from '../../files/errors.ts';
import { readInput } from '../../files/read.ts';
import { clientHeaders, extraHeadersOf } from '../../config/extra-headers.ts';
import type { Context, Outcome } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import { openService } from '../../service/client/service.ts';
import { type RawAnswer, rawCall, rawPages } from '../../service/raw-pages.ts';
import { requestParamsOf, urlBelow } from '../../service/pagers/request-params.ts';
import type { ApiOptions, Field } from './command.ts';
import { escapeJson, sanitize } from '../../output/terminal/terminal.ts';
import { JsonIndenter } from '../../json/indent-json.ts';
import { write } from '../../output/stdout.ts';

export async function run(options: ApiOptions, context: Context): Promise<Outcome> {
  rejectUnsendable(options);
  const { method, path, field, header, include, paginate } = options;
  const settings = await context.settings();
  const url = callUrl(settings.account().baseUrl, path, isReading(method) ? field : []);
  const body = await requestBody(options, context);
  const service = await openService(context, { asksOnce: true });
  // A header of `--header` takes the place of ours, and so does an `accept` of the profile.
  const headers = {
    ...(extraHeadersOf(service.dialect)['accept'] === undefined && { accept: 'application/json, */*;q=0.5' }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...Object.fromEntries(header.map(([name, value]) => [name.toLowerCase(), value])),
  };
  const answers = paginate
    ? rawPages(service, requestParamsOf(service.account.baseUrl, service.dialect, url), headers)
    : [await rawCall(service, { method, url, headers, body }, context.signal)];
  const printer = answerPrinter(context);
  try {
    for await (const answer of answers) {
      await printer.print(answer, include);
      if (answer.failure !== undefined) throw answer.failure;
    }
  } finally {
    await printer.end();
  }
  return 'done';
}

/** These methods send fields in the query, others in a JSON body. */
const isReading = (method: string): boolean => method === 'GET' || method === 'HEAD';

/** Throws a `UsageError` for a body with two members of one name, and for a header that every request has. */
function rejectUnsendable({ method, field: fields, header }: ApiOptions): void {
  const names = fields.map(({ name }) => name);
  const duplicate = names.find((name, i) => names.indexOf(name) < i);
  if (duplicate !== undefined && !isReading(method)) {
    throw new UsageError(`--field: '${duplicate}' is given twice`, {
      hint: `several values are one list: '${duplicate}:=["a","b"]'`,
    });
  }
  const ownHeader = header.map(([name]) => name.toLowerCase()).find((name) => clientHeaders.includes(name));
  if (ownHeader !== undefined) throw new UsageError(`--header: ${ownHeader} is set by leads itself`);
}

/** A path below the base URL, or a whole URL of its origin. Throws a `UsageError` for any other: the key would go there. */
function callUrl(baseUrl: URL, path: string, query: readonly Field[]): URL {
  const url = resolvePath(baseUrl, path);
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

function resolvePath(baseUrl: URL, path: string): URL | undefined {
  // A path that begins with two slashes names another host, as in a browser.
  const isWhole = /^([a-z][a-z0-9+.-]*:|[\\/]{2})/i.test(path);
  if (!isWhole) return urlBelow(baseUrl, path.startsWith('/') ? path : `/${path}`);
  return URL.canParse(path, baseUrl.href) ? new URL(path, baseUrl) : undefined;
}

/** The bytes of the file, or the fields as JSON; undefined for a call without a body. Throws a `DataError` for a file that cannot be read. */
async function requestBody(
  { method, input, field }: Pick<ApiOptions, 'method' | 'input' | 'field'>,
  { stdin, signal }: Pick<Context, 'stdin' | 'signal'>,
): Promise<Uint8Array | undefined> {
  if (input === undefined) {
    const hasNoBody = isReading(method) || field.length === 0;
    return hasNoBody ? undefined : Buffer.from(jsonOf(field));
  }
  const readError = (cause: unknown): Error => {
    signal.throwIfAborted();
    return new DataError(unreadable(`the body from ${input}`, cause), { cause });
  };
  return readInput(input, stdin, readError, signal);
}

const jsonOf = (fields: readonly Field[]): string =>
  `{${fields.map(({ name, json }) => `${JSON.stringify(name)}:${json}`).join(',')}}`;

const lineFeed = 0x0a;

/**
 * Prints answers one after the other. In a pipe the body's bytes are unchanged; on a terminal, control characters are made
 * harmless and the key is hidden. If a body does not end its last line, a line break comes before the next answer.
 */
function answerPrinter({ stdout }: Pick<Context, 'stdout'>) {
  const isTerminal = stdout.isTTY === true;
  let endsLine = true;
  const endLine = async (): Promise<void> => {
    if (!endsLine) await write(stdout, '\n');
    endsLine = true;
  };
  return {
    print: async (answer: RawAnswer, isHeadShown: boolean): Promise<void> => {
      const { headers, redactBody, body } = answer;
      await endLine();
      if (isHeadShown) await write(stdout, headOf(answer, isTerminal));
      const terminal = isTerminal ? terminalText(/json/i.test(headers['content-type'] ?? '')) : undefined;
      for await (const chunk of isTerminal ? redactBody(body) : body) {
        if (chunk.length === 0) continue;
        endsLine = chunk.at(-1) === lineFeed;
        await write(stdout, terminal === undefined ? chunk : terminal.harmless(chunk));
      }
      if (terminal !== undefined) await write(stdout, terminal.end());
    },
    /** After this, the prompt of a shell begins a line of its own. */
    end: async (): Promise<void> => {
      if (isTerminal) await endLine();
    },
  };
}

/** The status line and the headers as HTTP writes them, without the key. */
const headOf = ({ status, statusText, rawHeaders, redact }: RawAnswer, isTerminal: boolean): string =>
  [
    `HTTP/1.1 ${status} ${statusText}`.trimEnd(),
    ...rawHeaders.map(([name, value]) => `${name}: ${redact(value)}`),
    '',
  ]
    .map((line) => (isTerminal ? `${sanitize(line)}\n` : `${line}\r\n`))
    .join('');

/**
 * Makes a body harmless for a terminal, chunk by chunk. JSON is indented, and its control characters are escaped, so that its value
 * stays the same; of the control characters of other text only the line breaks stay.
 */
function terminalText(isJson: boolean) {
  const decoder = new TextDecoder();
  const indenter = new JsonIndenter();
  const withoutControls = (text: string): string => {
    const lines = text.replaceAll('\r\n', '\n');
    return isJson
      ? indenter.indent(lines.split('\t').map(escapeJson).join('  '))
      : lines.split('\n').map(sanitize).join('\n');
  };
  // A chunk may end between the two characters of a line break.
  let heldReturn = '';
  return {
    harmless: (chunk: Uint8Array): string => {
      const text = heldReturn + decoder.decode(chunk, { stream: true });
      heldReturn = text.endsWith('\r') ? '\r' : '';
      return withoutControls(text.slice(0, text.length - heldReturn.length));
    },
    end: (): string => withoutControls(heldReturn + decoder.decode()),
  };
}

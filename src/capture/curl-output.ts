import {
  bodyNote,
  type Capture,
  type CaptureOptions,
  chooseEntry,
  parseHeaderLine,
  timeIn,
  headerIn,
} from './capture.ts';
import { isCurlCommand, readCurlCommand } from './curl-command.ts';

const requestLine = /^> ([A-Z][A-Z-]{0,19}) (\S+) HTTP\/\d(?:\.\d)?\s*$/;

export const isCurlDump = (text: string): boolean =>
  linesOf(withoutTimes(text)).some((line) => requestLine.test(line));

/** With `--trace-time`, each line that curl prints begins with a time. */
const withoutTimes = (text: string): string => text.replace(/^\d\d:\d\d:\d\d\.\d{6} (?=[*<>{}] )/gm, '');

/** A progress meter writes over its own line, with a carriage return before it. */
const linesOf = (text: string): readonly string[] => text.split(/\r?\n|\r/);

/** A request and its response; `url` is a path, and `isTls` whether curl told of TLS before. */
interface Exchange {
  readonly method: string;
  readonly url: string;
  readonly headers: [string, string][];
  readonly responseHeaders: [string, string][];
  readonly isTls: boolean;
}

/** Reads what `curl -v` prints: the headers of requests and responses. The body is in the command before it, if at all. */
export async function readCurlDump(output: string, options: CaptureOptions): Promise<Capture> {
  const text = withoutTimes(output);
  const [exchange, index] = chooseEntry(exchangesOf(linesOf(text)), 'the output of curl -v', options);
  const { method, url: path, headers, responseHeaders, isTls } = exchange;
  const host = headerIn(headers, 'host');
  const request: Omit<Capture, 'body' | 'notes'> = {
    form: "the output of 'curl -v'",
    method,
    path,
    url: host === undefined ? undefined : `${isTls ? 'https' : 'http'}://${host}${path}`,
    rawHeaders: headers,
    capturedAt: timeIn(headerIn(responseHeaders, 'date')),
  };
  const command = index === 0 ? commandBefore(text) : undefined;
  if (command !== undefined) {
    const { body, notes } = await readCurlCommand(command, options);
    return { ...request, form: "a curl command and its output of '-v'", body, notes };
  }
  const length = headerIn(headers, 'content-length');
  const isEmpty = length === undefined ? method === 'GET' : Number(length) === 0;
  if (isEmpty) return { ...request, body: new Uint8Array(), notes: [] };
  const remark = "'curl -v' prints no body: put the curl command before its output, or give --body FILE";
  return { ...request, body: undefined, notes: [bodyNote(remark)] };
}

function exchangesOf(lines: readonly string[]): readonly Exchange[] {
  const exchanges: Exchange[] = [];
  let isTls = false;
  let isInRequestHead = false;
  for (const line of lines) {
    const [, method, url] = requestLine.exec(line) ?? [];
    const last = exchanges.at(-1);
    if (/^\* .*\b(SSL|TLSv?1?|ALPN)\b/.test(line)) isTls = true;
    if (method !== undefined && url !== undefined) {
      exchanges.push({ method, url, headers: [], responseHeaders: [], isTls });
      isInRequestHead = true;
    } else if (/^>\s*$/.test(line)) isInRequestHead = false;
    else if (isInRequestHead && line.startsWith('> ')) {
      const header = parseHeaderLine(line.slice(2));
      if (header !== undefined) last?.headers.push([...header]);
    } else if (line.startsWith('< ')) {
      const header = parseHeaderLine(line.slice(2));
      if (header !== undefined) last?.responseHeaders.push([...header]);
    }
  }
  return exchanges;
}

/** Returns the command that was copied with its output, which begins with a line of `-v` or the progress meter. */
function commandBefore(text: string): string | undefined {
  const end = /(^|[\r\n])(?:[*>] | {2}% Total)/.exec(text)?.index ?? 0;
  const before = text.slice(0, end);
  return isCurlCommand(`\n${before}\n`) ? before : undefined;
}

import {
  bodyNote,
  type Capture,
  type CapturedBody,
  type CaptureOptions,
  chooseEntry,
  type EntryHead,
  headerIn,
  parseHeaderLine,
  pathOf,
  timeIn,
  unreadable,
} from './capture.ts';
import { outputOf, parsePipelines, type Pipeline, type Word } from './shell-words.ts';

const curlWord = /^(?:.*\/)?curl(?:\.exe)?$/;

export const isCurlCommand = (text: string): boolean => /(?:^|[\s|;&(/])curl(?:\.exe)?[ \t\\]/.test(text);

/** In bytes: a shell takes at most 2 MiB. */
const longestCommand = 4 * 1024 * 1024;

/** Reads the request that a curl command sends, as far as the command says it; `text` is its bytes in Latin-1. */
export async function readCurlCommand(text: string, options: CaptureOptions): Promise<Capture> {
  if (text.length > longestCommand) throw unreadable('it is longer than any command line');
  const isCurlWord = (word: Word): boolean => curlWord.test(word.text);
  const pipeline = parsePipelines(text).find((commands) => commands.flat().some(isCurlWord)) ?? [];
  const position = pipeline.findIndex((words) => words.some(isCurlWord));
  const words = pipeline[position] ?? [];
  const args = curlArguments(words.slice(words.findIndex(isCurlWord) + 1));
  const url = urlOf(args);
  if (url === undefined) throw unreadable('the curl command names no URL');
  const path = pathOf(url);
  if (path === undefined) throw unreadable('the curl command calls no URL of HTTP');
  const { body, notes } = await bodyOf(args, pipeline.slice(0, position), options.readFile);
  const hasBody = body === undefined || body.length > 0;
  const method = args.findLast(({ option }) => option === 'request')?.value.text;
  return {
    form: 'a curl command',
    method: method ?? (hasBody ? 'POST' : 'GET'),
    url,
    path,
    ...headersOf(args, url, hasBody),
    body,
    notes,
  };
}

/** A word without a scheme may be the value of an option that is not known here, so that one with a scheme goes first. */
function urlOf(args: readonly CurlArgument[]): string | undefined {
  const words = args.filter(({ option }) => option === 'url').map(({ value }) => value.text);
  const [first] = words;
  return words.find((word) => word.includes('://')) ?? (first === undefined ? undefined : `http://${first}`);
}

function headersOf(
  args: readonly CurlArgument[],
  url: string,
  hasBody: boolean,
): Pick<Capture, 'rawHeaders' | 'withheld'> {
  const isJson = args.some(({ option }) => option === 'json');
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
  const added: (readonly [string, string])[] = [
    ...(URL.canParse(url) ? [['Host', new URL(url).host] as const] : []),
    ...(hasBody ? [['Content-Type', type] as const] : []),
  ];
  const typed = args.flatMap(({ option, value: { text, hasExpansion } }) => {
    const [name, value] = headerOf(option, text) ?? [];
    return name === undefined ? [] : [{ name, value, hasExpansion }];
  });
  const typedNames = typed.map(({ name }) => name.toLowerCase());
  const sent = typed.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return {
    rawHeaders: [...added.filter(([name]) => !typedNames.includes(name.toLowerCase())), ...sent],
    withheld: typed.filter(({ hasExpansion }) => hasExpansion).map(({ name }) => name.toLowerCase()),
  };
}

/** `-H 'Name:'` takes away the header that curl would add, whose value is undefined here; `-H 'Name;'` sends it empty. */
function headerOf(option: string, text: string): readonly [name: string, value?: string] | undefined {
  if (option === 'oauth2-bearer') return ['Authorization', `Bearer ${text}`];
  if (option === 'user') return ['Authorization', `Basic ${Buffer.from(text, 'latin1').toString('base64')}`];
  if (option !== 'header') return undefined;
  const [, emptyName] = /^([^:]*);$/.exec(text) ?? [];
  const header = parseHeaderLine(emptyName === undefined ? text : `${emptyName}:`);
  const isRemoval = emptyName === undefined && header?.[1] === '';
  return isRemoval ? [header[0]] : header;
}

const dataOptions = ['data', 'data-ascii', 'data-binary', 'data-raw', 'json'];
/** Options whose bytes the command does not hold, or curl writes in its own way. */
const otherBodyOptions = ['data-urlencode', 'form', 'form-string', 'upload-file'];

/**
 * Returns the bytes that curl sends, part after part: those of `-d` and the like are joined by `&`, those of
 * `--json` by nothing. `@file` is read, by `-d` without its line breaks and NUL bytes.
 */
async function bodyOf(
  args: readonly CurlArgument[],
  commandsBefore: Pipeline,
  readFile: CaptureOptions['readFile'],
): Promise<CapturedBody> {
  const withoutBody = (reason: string): CapturedBody => ({
    body: undefined,
    notes: [bodyNote(`${reason}: give the body with --body FILE`)],
  });
  if (args.some(({ option }) => otherBodyOptions.includes(option)))
    return withoutBody('the command does not hold the bytes that curl sends');
  const stdin = outputOf(commandsBefore);
  const notes: Capture['notes'][number][] = [];
  const parts: Uint8Array[] = [];
  for (const { option, value } of args.filter((arg) => dataOptions.includes(arg.option))) {
    if (value.hasExpansion) return withoutBody('a part of the body comes from a variable or another command');
    if (parts.length > 0 && option !== 'json') parts.push(Buffer.from('&'));
    const isFile = option !== 'data-raw' && value.text.startsWith('@');
    if (!isFile) {
      parts.push(Buffer.from(value.text, 'latin1'));
      continue;
    }
    const path = Buffer.from(value.text.slice(1), 'latin1').toString('utf8');
    if (path === '-' && stdin === undefined)
      return withoutBody('the body was read from stdin, and the command does not hold it');
    const bytes = path === '-' ? Buffer.from(stdin ?? '', 'latin1') : await readFile(path);
    const isStripped = option === 'data' || option === 'data-ascii';
    const part = isStripped ? bytes.filter((byte) => ![0x0a, 0x0d, 0].includes(byte)) : bytes;
    parts.push(part);
    if (part.length !== bytes.length)
      notes.push(bodyNote(`-d sends ${path} without its line breaks; --data-binary keeps them`));
  }
  return { body: Buffer.concat(parts), notes };
}

/** `option` is the long name of an option with a value; `url` also for a word that is no option. */
interface CurlArgument {
  readonly option: string;
  readonly value: Word;
}

/** A word of short options, such as `-sXPOST`: the first letter that takes a value, and the value that is attached. */
const shortOptions = /^-[^-]*?([AbdeFHTuXCDEhKPQUYcmortwxyz])([\s\S]*)$/;

const emptyWord: Word = { text: '', hasExpansion: false };

function curlArguments(words: readonly Word[]): readonly CurlArgument[] {
  const args: CurlArgument[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? emptyWord;
    // The options after it are those of another request.
    if (word.text === '--next' || word.text === '-:') break;
    const [, letter, attached = ''] = shortOptions.exec(word.text) ?? [];
    const option = letter === undefined ? word.text.slice(2) : (longNames[letter] ?? 'other');
    if (!word.text.startsWith('-')) args.push({ option: 'url', value: word });
    else if (attached !== '') args.push({ option, value: { ...word, text: attached } });
    else if (letter !== undefined || valuedOptions.includes(option)) {
      i += 1;
      args.push({ option, value: words[i] ?? emptyWord });
    }
  }
  return args;
}

const longNames: Readonly<Record<string, string>> = {
  d: 'data',
  F: 'form',
  H: 'header',
  T: 'upload-file',
  u: 'user',
  X: 'request',
};

const otherValuedOptions =
  'cacert cert connect-timeout connect-to cookie cookie-jar interface key limit-rate max-redirs max-time output ' +
  'proxy referer resolve retry retry-delay retry-max-time unix-socket user-agent write-out';

/** The long options that are read here, and the usual others that take a value. */
const valuedOptions = [
  ...dataOptions,
  ...otherBodyOptions,
  ...['header', 'oauth2-bearer', 'request', 'url', 'user'],
  ...otherValuedOptions.split(' '),
];

const requestLine = /^> ([A-Z][A-Z-]{0,19}) (\S+) HTTP\/\d(?:\.\d)?\s*$/;

export const isCurlDump = (text: string): boolean =>
  linesOf(withoutTimes(text)).some((line) => requestLine.test(line));

/** With `--trace-time`, each line that curl prints begins with a time. */
const withoutTimes = (text: string): string => text.replace(/^\d\d:\d\d:\d\d\.\d{6} (?=[*<>{}] )/gm, '');

/** A progress meter writes over its own line, with a carriage return before it. */
const linesOf = (text: string): readonly string[] => text.split(/\r?\n|\r/);

/** A request and its response; `url` is a path, and `isTls` whether curl told of TLS before. */
interface Exchange extends EntryHead {
  readonly responseHeaders: EntryHead['headers'];
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
  const starts = [...lines.keys()].filter((i) => requestLine.test(lines[i] ?? ''));
  const firstOfTls = lines.findIndex((line) => /^\* .*\b(SSL|TLSv?1?|ALPN)\b/.test(line));
  return starts.map((start, i) => {
    const [, method = '', url = ''] = requestLine.exec(lines[start] ?? '') ?? [];
    const further = lines.slice(start + 1, starts[i + 1]);
    const headLength = further.findIndex((line) => /^>\s*$/.test(line));
    return {
      method,
      url,
      headers: headersAfter('> ', headLength < 0 ? further : further.slice(0, headLength)),
      responseHeaders: headersAfter('< ', further),
      isTls: firstOfTls >= 0 && firstOfTls < start,
    };
  });
}

const headersAfter = (mark: '> ' | '< ', lines: readonly string[]): EntryHead['headers'] =>
  lines.flatMap((line) => {
    const header = line.startsWith(mark) ? parseHeaderLine(line.slice(mark.length)) : undefined;
    return header === undefined ? [] : [header];
  });

/** Returns the command that was copied with its output, which begins with a line of `-v` or the progress meter. */
function commandBefore(text: string): string | undefined {
  const end = /(^|[\r\n])(?:[*>] | {2}% Total)/.exec(text)?.index ?? 0;
  const before = text.slice(0, end);
  return isCurlCommand(`\n${before}\n`) ? before : undefined;
}

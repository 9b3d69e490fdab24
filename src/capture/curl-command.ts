import {
  bodyNote,
  type Capture,
  type CaptureOptions,
  parseHeaderLine,
  targetOf,
  unreadable,
} from './capture.ts';
import { outputOf, parsePipelines, type Pipeline, type Word } from './shell-words.ts';

const curlWord = /^(?:.*\/)?curl(?:\.exe)?$/;

export const isCurlCommand = (text: string): boolean => /(?:^|[\s|;&(/])curl(?:\.exe)?[ \t\\]/.test(text);

/** In bytes: a shell takes at most 2 MiB. */
const longestCommand = 4 * 1024 * 1024;

/** The request that a curl command sends, as far as the command says it; `text` is its bytes in Latin-1. */
export async function readCurlCommand(text: string, options: CaptureOptions): Promise<Capture> {
  if (text.length > longestCommand) throw unreadable('it is longer than any command line');
  const isCurl = (words: readonly Word[]): boolean => words.some((word) => curlWord.test(word.text));
  const pipeline = parsePipelines(text).find((commands) => commands.some(isCurl)) ?? [];
  const position = pipeline.findIndex(isCurl);
  const words = pipeline[position] ?? [];
  const args = curlArguments(words.slice(words.findIndex((word) => curlWord.test(word.text)) + 1));
  const typed = args.filter(({ option }) => option === 'url').map(({ value }) => value.text);
  const [url] = [...typed.filter((word) => word.includes('://')), ...typed.map((word) => `http://${word}`)];
  if (url === undefined) throw unreadable('the curl command names no URL');
  const path = targetOf(url);
  if (path === undefined) throw unreadable('the curl command calls no URL of HTTP');
  const { body, notes } = await bodyOf(args, pipeline.slice(0, position), options.readFile);
  const isBare = body !== undefined && body.length === 0;
  const method = args.findLast(({ option }) => option === 'request')?.value.text;
  return {
    form: 'a curl command',
    method: method ?? (isBare ? 'GET' : 'POST'),
    url,
    path,
    ...headersOf(args, url, !isBare),
    body,
    capturedAt: undefined,
    notes,
  };
}

/** The headers of `-H` and of the options that stand for one, and those that curl adds by itself. */
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
  const typed = args.flatMap(({ option, value: { text, isOpen } }) => {
    const basic = `Basic ${Buffer.from(text, 'latin1').toString('base64')}`;
    // `-H 'Name:'` takes away the header that curl would add, `-H 'Name;'` sends it empty.
    const line = option === 'header' ? text.replace(/^([^:]*);$/, '$1: ;') : undefined;
    const header = line === undefined ? undefined : parseHeaderLine(line);
    if (header !== undefined) return [{ header, isOpen }];
    if (option === 'user') return [{ header: ['Authorization', basic] as const, isOpen }];
    return option === 'oauth2-bearer'
      ? [{ header: ['Authorization', `Bearer ${text}`] as const, isOpen }]
      : [];
  });
  const names = typed.map(({ header: [name] }) => name.toLowerCase());
  const sent = typed.flatMap(({ header: [name, value] }) =>
    value === '' ? [] : [[name, value === ';' ? '' : value] as const],
  );
  return {
    rawHeaders: [...added.filter(([name]) => !names.includes(name.toLowerCase())), ...sent],
    withheld: typed.filter(({ isOpen }) => isOpen).map(({ header: [name] }) => name.toLowerCase()),
  };
}

const dataOptions = ['data', 'data-ascii', 'data-binary', 'data-raw', 'json'];
/** Options whose bytes the command does not hold, or curl writes in its own way. */
const otherBodies = ['data-urlencode', 'form', 'form-string', 'upload-file'];

/**
 * The bytes that curl sends for these options, in order: `-d` and the like are joined by `&`, `--json` by nothing; `@file`
 * is read, by `-d` without its line breaks.
 */
async function bodyOf(
  args: readonly CurlArgument[],
  commandsBefore: Pipeline,
  readFile: CaptureOptions['readFile'],
): Promise<Pick<Capture, 'body' | 'notes'>> {
  const unknown = (reason: string): Pick<Capture, 'body' | 'notes'> => ({
    body: undefined,
    notes: [bodyNote(`${reason}: give the body with --body FILE`)],
  });
  if (args.some(({ option }) => otherBodies.includes(option)))
    return unknown('the command does not hold the bytes that curl sends');
  const stdin = outputOf(commandsBefore);
  const notes: Capture['notes'][number][] = [];
  const parts: Uint8Array[] = [];
  for (const { option, value } of args.filter((arg) => dataOptions.includes(arg.option))) {
    if (value.isOpen) return unknown('a part of the body comes from a variable or another command');
    if (parts.length > 0 && option !== 'json') parts.push(Buffer.from('&'));
    const isFile = option !== 'data-raw' && value.text.startsWith('@');
    const path = Buffer.from(value.text.slice(1), 'latin1').toString('utf8');
    if (!isFile) parts.push(Buffer.from(value.text, 'latin1'));
    else if (path === '-' && stdin === undefined)
      return unknown('the body was read from stdin, and the command does not hold it');
    else {
      const bytes = path === '-' ? Buffer.from(stdin ?? '', 'latin1') : await readFile(path);
      const isStripped = option === 'data' || option === 'data-ascii';
      const part = isStripped ? bytes.filter((byte) => ![0x0a, 0x0d, 0].includes(byte)) : bytes;
      parts.push(part);
      if (part.length !== bytes.length)
        notes.push(bodyNote(`-d sends ${path} without its line breaks; --data-binary keeps them`));
    }
  }
  return { body: Buffer.concat(parts), notes };
}

/** An option of a curl command under its long name; `url` also for a word that is no option. */
interface CurlArgument {
  readonly option: string;
  readonly value: Word;
}

/** The options with a value, as curl reads them: `-sXPOST`, `-H 'a: b'` and `--header 'a: b'` alike. */
function curlArguments(words: readonly Word[]): readonly CurlArgument[] {
  const args: CurlArgument[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? { text: '', isOpen: false };
    const [, letter = '', attached = ''] =
      /^-[^-]*?([AbdeFHTuXCDEhKPQUYcmortwxyz])([\s\S]*)$/.exec(word.text) ?? [];
    const option = valuedLetters[letter] ?? (letter === '' ? word.text.slice(2) : 'other');
    if (word.text === '--next' || word.text === '-:') break;
    if (!word.text.startsWith('-')) args.push({ option: 'url', value: word });
    else if (attached !== '') args.push({ option, value: { text: attached, isOpen: word.isOpen } });
    else if (letter !== '' || valuedOptions.includes(option)) {
      i += 1;
      args.push({ option, value: words[i] ?? { text: '', isOpen: false } });
    }
  }
  return args;
}

/** The long options that are read here, and the usual others that take a value. */
const valuedOptions = [
  ...dataOptions,
  ...otherBodies,
  ...['header', 'oauth2-bearer', 'request', 'url', 'user'],
  ...'cacert cert connect-timeout connect-to cookie cookie-jar interface key limit-rate max-redirs max-time'.split(
    ' ',
  ),
  ...'output proxy referer resolve retry retry-delay retry-max-time unix-socket user-agent write-out'.split(
    ' ',
  ),
];

const valuedLetters: Readonly<Record<string, string>> = {
  d: 'data',
  F: 'form',
  H: 'header',
  T: 'upload-file',
  u: 'user',
  X: 'request',
};

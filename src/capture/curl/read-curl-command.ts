import {
  bodyNote,
  type Capture,
  type CaptureOptions,
  parseHeaderLine,
  targetOf,
  unreadable,
} from '../capture.ts';
import { type CurlArgument, curlArguments } from './curl-arguments.ts';
import { curlBody, dataOptions } from './curl-body.ts';
import { pipeInput } from './pipe-input.ts';
import { type Command, parsePipeline, type Word } from './shell-words.ts';

const named = /(?:^|[\s|;&(])curl(?:\.exe)?[ \t\\]/;

export const isCurlCommand = (text: string): boolean => named.test(text);

/** In bytes: a shell takes at most 2 MiB. */
const longestCommand = 4 * 1024 * 1024;

/** The request that a curl command sends, as far as the command says it; `text` is its bytes in Latin-1. */
export async function readCurlCommand(text: string, options: CaptureOptions): Promise<Capture> {
  if (text.length > longestCommand) throw unreadable('it is longer than any command line');
  const pipeline = parse(text);
  const args = curlArguments(pipeline.at(-1)?.words.slice(1) ?? []);
  const first = (option: string): Word | undefined => args.find((arg) => arg.option === option)?.value;
  const has = (option: string): boolean => args.some((arg) => arg.option === option);
  const typed = first('url')?.text;
  if (typed === undefined) throw unreadable('the curl command names no URL');
  const url = /^[a-z]+:\/\//i.test(typed) ? typed : `http://${typed}`;
  const path = first('request-target')?.text ?? targetOf(url);
  if (path === undefined) throw unreadable('the curl command calls no URL of HTTP');
  const data = args.filter(({ option }) => dataOptions.includes(option));
  const isForm = has('form') || has('form-string');
  const body = isForm
    ? {
        bytes: undefined,
        notes: [
          bodyNote('curl chooses the boundary of a form anew each time: give the body with --body FILE'),
        ],
      }
    : await curlBody(data, pipeInput(pipeline), options.readFile);
  const inQuery = has('get') && data.length > 0;
  return {
    form: 'a curl command',
    method:
      args.findLast(({ option }) => option === 'request')?.value?.text ??
      methodOf(args, inQuery || !(isForm || data.length > 0)),
    url,
    path: inQuery
      ? `${path}${path.includes('?') ? '&' : '?'}${Buffer.from(body.bytes ?? []).toString('latin1')}`
      : path,
    ...headersOf(args, url, data.length > 0 && !inQuery),
    body: inQuery ? new Uint8Array() : body.bytes,
    at: undefined,
    notes: body.notes,
  };
}

function methodOf(args: readonly CurlArgument[], isBare: boolean): string {
  if (args.some(({ option }) => option === 'upload-file')) return 'PUT';
  if (args.some(({ option }) => option === 'head')) return 'HEAD';
  return isBare ? 'GET' : 'POST';
}

/** The pipeline up to curl: of the whole text, or, behind a prompt or another command, from the word curl on. */
function parse(text: string): readonly Command[] {
  const prompted = text.replace(/^\s*(?:[^\s'"|;&]*[ \t]?[$%#>+] )?/, '');
  const whole = upToCurl(parsePipeline(prompted));
  if (whole !== undefined) return whole;
  const found = named.exec(text);
  const start = found === null ? 0 : found.index + found[0].indexOf('curl');
  const behind = upToCurl(parsePipeline(text.slice(start)));
  if (behind !== undefined) return behind;
  throw unreadable('it names curl, and holds no command of curl');
}

function upToCurl(pipeline: readonly Command[]): readonly Command[] | undefined {
  const index = pipeline.findIndex(({ words }) => /^(.*\/)?curl(\.exe)?$/.test(words[0]?.text ?? ''));
  return index < 0 ? undefined : pipeline.slice(0, index + 1);
}

/** Those of `-H` and of the options that stand for one, and those that curl adds by itself. */
function headersOf(
  args: readonly CurlArgument[],
  url: string,
  hasBody: boolean,
): Pick<Capture, 'rawHeaders' | 'withheld'> {
  const headers: [string, string][] = [];
  const removed: string[] = [];
  const withheld: string[] = [];
  const add = (name: string, value: string, isOpen: boolean): void => {
    headers.push([name, value]);
    if (isOpen) withheld.push(name.toLowerCase());
  };
  for (const { option, value } of args) {
    const { text = '', isOpen = false } = value ?? {};
    if (option === 'header') {
      const header = parseHeaderLine(
        text.endsWith(';') && !text.includes(':') ? `${text.slice(0, -1)}:` : text,
      );
      if (header === undefined) continue;
      // `-H 'Name:'` takes away the header that curl would add, `-H 'Name;'` sends it empty.
      if (header[1] === '' && text.includes(':')) removed.push(header[0].toLowerCase());
      else add(...header, isOpen);
    } else if (option === 'user') {
      add('Authorization', `Basic ${Buffer.from(text, 'latin1').toString('base64')}`, isOpen);
    } else if (option === 'oauth2-bearer') add('Authorization', `Bearer ${text}`, isOpen);
    else if (option === 'user-agent') add('User-Agent', text, isOpen);
    else if (option === 'referer') add('Referer', text, isOpen);
    else if (option === 'cookie' && text.includes('=')) add('Cookie', text, isOpen);
  }
  const isJson = args.some(({ option }) => option === 'json');
  const own: readonly [string, string | undefined][] = [
    ['Host', URL.canParse(url) ? new URL(url).host : undefined],
    [
      'Content-Type',
      !hasBody ? undefined : isJson ? 'application/json' : 'application/x-www-form-urlencoded',
    ],
    ['Accept', isJson ? 'application/json' : '*/*'],
  ];
  const isGiven = (name: string): boolean =>
    removed.includes(name) || headers.some(([given]) => given.toLowerCase() === name);
  const added = own.flatMap(([name, value]) =>
    value === undefined || isGiven(name.toLowerCase()) ? [] : [[name, value] as const],
  );
  return { rawHeaders: [...added, ...headers], withheld };
}

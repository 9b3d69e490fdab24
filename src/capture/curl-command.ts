import {
  bodyNote,
  type Capture,
  type CaptureNote,
  type CaptureOptions,
  parseHeaderLine,
  targetOf,
  unreadable,
} from './capture.ts';
import { type Command, parsePipeline, pipeInput, type Word } from './shell-words.ts';

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

/** A body, or why it is not known. */
interface CurlBody {
  readonly bytes: Uint8Array | undefined;
  readonly notes: readonly CaptureNote[];
}

/** The options that make a body. */
const dataOptions = [
  'data',
  'data-ascii',
  'data-binary',
  'data-raw',
  'data-urlencode',
  'json',
  'upload-file',
];

/**
 * The bytes that curl sends for these options, in order: `-d` and the like are joined by `&`, `--json` by nothing; `@file`
 * is read, by `-d` without its line breaks. `stdin` is what `@-` reads.
 */
async function curlBody(
  data: readonly CurlArgument[],
  stdin: Word | undefined,
  readFile: CaptureOptions['readFile'],
): Promise<CurlBody> {
  const notes: CaptureNote[] = [];
  const parts: Uint8Array[] = [];
  for (const { option, value } of data) {
    const text = value?.text ?? '';
    if (parts.length > 0 && option !== 'json' && option !== 'upload-file') parts.push(Buffer.from('&'));
    const path = pathOf(option, text);
    if (value?.isOpen === true || (path === '-' && stdin?.isOpen === true)) {
      notes.push(
        bodyNote(
          'a part of the body comes from a variable or another command: give the body with --body FILE',
        ),
      );
      return { bytes: undefined, notes };
    }
    if (path === undefined) {
      parts.push(Buffer.from(option === 'data-urlencode' ? urlEncoded(text) : text, 'latin1'));
      continue;
    }
    if (path === '-' && stdin === undefined) {
      notes.push(
        bodyNote('the body was read from stdin, and the command does not hold it: give it with --body FILE'),
      );
      return { bytes: undefined, notes };
    }
    const bytes = path === '-' ? Buffer.from(stdin?.text ?? '', 'latin1') : await readFile(path);
    const isStripped = option === 'data' || option === 'data-ascii';
    parts.push(isStripped ? bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d && byte !== 0) : bytes);
    if (isStripped && parts.at(-1)?.length !== bytes.length) {
      notes.push(
        bodyNote(
          `-d sends ${path === '-' ? 'stdin' : path} without its line breaks; --data-binary keeps them`,
        ),
      );
    }
  }
  return { bytes: Buffer.concat(parts), notes };
}

/** The file that an option reads, as UTF-8; `-` is stdin. */
function pathOf(option: string, text: string): string | undefined {
  const name = Buffer.from(text, 'latin1').toString('utf8');
  if (option === 'upload-file') return name === '.' ? '-' : name;
  return option !== 'data-raw' && option !== 'data-urlencode' && name.startsWith('@')
    ? name.slice(1)
    : undefined;
}

/** `name=content` encodes the content, `=content` too, without its sign; a space is a plus, as in curl from 7.86 on. */
function urlEncoded(text: string): string {
  const [, name = '', content = ''] = /^([^=@]*)=([\s\S]*)$/.exec(text) ?? [undefined, '', text];
  const encoded = [...Buffer.from(content, 'latin1')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      if (character === ' ') return '+';
      return /[\w.~-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
  return name === '' ? encoded : `${name}=${encoded}`;
}

/** One option of a curl command under its long name; `url` also for a word that is no option. */
interface CurlArgument {
  readonly option: string;
  /** Undefined for an option without a value. */
  readonly value: Word | undefined;
}

/** The options of a curl command as curl reads them: `-sXPOST`, `-H 'a: b'` and `--header 'a: b'` alike. */
function curlArguments(words: readonly Word[]): readonly CurlArgument[] {
  const found: CurlArgument[] = [];
  let isLiteral = false;
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i];
    if (word === undefined) break;
    const { text } = word;
    if (isLiteral || !text.startsWith('-') || text === '-') found.push({ option: 'url', value: word });
    else if (text === '--') isLiteral = true;
    else if (text === '--next' || text === '-:') break;
    else if (text.startsWith('--')) {
      const option = text.slice(2).replace(/^expand-/, '');
      if (valuedOptions.has(option)) i += 1;
      found.push({ option, value: valuedOptions.has(option) ? words[i] : undefined });
    } else i += takeLetters(word, words[i + 1], found);
  }
  return found;
}

/** Reads options of one letter; how many of the words behind them they took. */
function takeLetters({ text, isOpen }: Word, next: Word | undefined, found: CurlArgument[]): number {
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    const option = valuedLetters.get(letter);
    if (option === undefined) {
      const name = switchLetters.get(letter);
      if (name !== undefined) found.push({ option: name, value: undefined });
      continue;
    }
    const rest = text.slice(at + 1);
    found.push({ option, value: rest === '' ? next : { text: rest, isOpen } });
    return rest === '' ? 1 : 0;
  }
  return 0;
}

/** The long options of curl 8 that take a value, apart from those that `curl-request.ts` reads. */
const skipped =
  'abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to ' +
  'continue-at cookie-jar create-file-mode crlfile curves delegation dns-interface dns-ipv4-addr dns-ipv6-addr ' +
  'dns-servers doh-url dump-header ech egd-file engine etag-compare etag-save expect100-timeout ftp-account ' +
  'ftp-alternative-to-user ftp-method ftp-port ftp-ssl-ccc-mode happy-eyeballs-timeout-ms haproxy-clientip help ' +
  'hostpubmd5 hostpubsha256 hsts interface ip-tos ipfs-gateway keepalive-cnt keepalive-time key key-type krb libcurl ' +
  'limit-rate local-port login-options mail-auth mail-from mail-rcpt max-filesize max-redirs max-time netrc-file ' +
  'noproxy output output-dir parallel-max parallel-max-host pass pinnedpubkey proto proto-default proto-redir proxy ' +
  'proxy-cacert proxy-capath proxy-cert proxy-cert-type proxy-ciphers proxy-crlfile proxy-header proxy-key ' +
  'proxy-key-type proxy-pass proxy-pinnedpubkey proxy-service-name proxy-tls13-ciphers proxy-tlsauthtype ' +
  'proxy-tlspassword proxy-tlsuser proxy-user proxy1.0 preproxy pubkey quote random-file range rate resolve retry ' +
  'retry-delay retry-max-time sasl-authzid service-name sigalgs socks4 socks4a socks5 socks5-gssapi-service ' +
  'socks5-hostname speed-limit speed-time stderr telnet-option tftp-blksize time-cond tls-max tls13-ciphers ' +
  'tlsauthtype tlspassword tlsuser trace trace-ascii trace-config unix-socket variable vlan-priority write-out';

const read =
  'cookie data data-ascii data-binary data-raw data-urlencode form form-string header json oauth2-bearer referer ' +
  'request request-target upload-file url url-query user user-agent';

const valuedOptions: ReadonlySet<string> = new Set(`${skipped} ${read}`.split(' '));

/** Short options that take a value, by their long names; the empty name for those that say nothing about the request. */
const valuedLetters: ReadonlyMap<string, string> = new Map([
  ['A', 'user-agent'],
  ['b', 'cookie'],
  ['d', 'data'],
  ['e', 'referer'],
  ['F', 'form'],
  ['H', 'header'],
  ['T', 'upload-file'],
  ['u', 'user'],
  ['X', 'request'],
  ...'C D E h K P Q U Y c m o r t w x y z'.split(' ').map((letter) => [letter, ''] as const),
]);

/** Short options without a value that change the request. */
const switchLetters: ReadonlyMap<string, string> = new Map([
  ['G', 'get'],
  ['I', 'head'],
]);

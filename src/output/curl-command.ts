import { shellWord, singleQuoted } from '../front.ts';
import type { Secret } from '../secret.ts';
import { sanitize } from './terminal/terminal.ts';

/** A request as it would be sent. */
export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  /** In the order in which they are sent; node's form, one character a byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** A shell line that prints the body, where it is too long to be shown. */
  readonly bodyCommand?: string | undefined;
  /** Limits how fast the body is sent. */
  readonly bytesPerSecond?: number | undefined;
  /** Texts that headers and URL may hold and the command must not: a shell variable stands for each. */
  readonly secrets?: readonly SecretVariable[] | undefined;
  /** A file of authorities in PEM for `--cacert`. */
  readonly caFile?: string | undefined;
  /** Does not verify the receiver's certificate. */
  readonly insecure?: boolean | undefined;
}

/** A secret and the environment variable, or other expression behind `$`, that gives it where the command is pasted. */
export interface SecretVariable {
  readonly secret: Secret;
  readonly variable: string;
  /** The variable replaces whole values alone: elsewhere the text may be too short to be a secret. */
  readonly isWhole?: boolean;
}

/** Longer ones go through a pipe: Linux takes at most 128 KiB in one argument. */
const longestArgument = 100_000;

/**
 * The request as one line that, pasted into bash or zsh, sends the same method, headers and body bytes. A body that is
 * not printable text on one line goes through `base64 -d`.
 */
export function curlCommand(request: CurlRequest): string {
  const { method, url, headers, body, secrets = [], caFile, insecure = false } = request;
  const { bodyCommand, bytesPerSecond } = request;
  const words = ['curl', '-i'];
  if (bytesPerSecond !== undefined) words.push('--limit-rate', String(bytesPerSecond));
  // curl reads these as patterns for several URLs.
  if (/[[\]{}]/.test(url)) words.push('-g');
  if (insecure) words.push('-k');
  else if (caFile !== undefined) words.push('--cacert', shellWord(caFile));
  const sendsBody = body.length > 0 || method === 'POST';
  if (method === 'HEAD') words.push('-I');
  else if (method !== (sendsBody ? 'POST' : 'GET')) words.push('-X', shellWord(method));
  words.push(urlWord(url, secrets));
  for (const [name, value] of sentHeaders(headers, sendsBody)) {
    words.push('-H', headerWord(name, value, secrets));
  }
  if (!sendsBody) return words.join(' ');
  if (bodyCommand !== undefined) return `${bodyCommand} | ${words.join(' ')} --data-binary @-`;
  const text = printable(body);
  if (text !== undefined && text.length <= longestArgument && !text.startsWith('@')) {
    return [...words, '--data-binary', singleQuoted(text)].join(' ');
  }
  const encoded = Buffer.from(body).toString('base64');
  return `printf %s '${encoded}' | base64 -d | ${[...words, '--data-binary', '@-'].join(' ')}`;
}

/** Replaces each secret in the value by a reference such as `$LEADS_WEBHOOK_TOKEN`. */
export function withVariables(value: string, secrets: readonly SecretVariable[]): string {
  return piecesOf(value, secrets)
    .map(({ text, variable }) => (variable === undefined ? text : `$${variable}`))
    .join('');
}

/** curl counts the body by itself, and would add a content type of its own. */
function sentHeaders(headers: CurlRequest['headers'], sendsBody: boolean): CurlRequest['headers'] {
  const sent = headers.filter(([name]) => !/^content-length$/i.test(name));
  const hasType = sent.some(([name]) => /^content-type$/i.test(name));
  return sendsBody && !hasType ? [...sent, ['Content-Type', undefinedValue]] : sent;
}

/** Removes a header that curl adds by itself; a header without a value is written with a semicolon instead. */
const undefinedValue = '\0';

/** A secret is looked for in the query alone: a token as short as `x` would be found in the host. */
function urlWord(url: string, secrets: readonly SecretVariable[]): string {
  const [address = '', query = ''] = url.split(/(?<=\?)(.*)/s);
  const pieces = piecesOf(query, secrets);
  if (pieces.every(({ variable }) => variable === undefined)) return shellWord(url);
  const words = pieces.map(({ text, variable }) =>
    variable === undefined ? singleQuoted(text) : `"$${variable}"`,
  );
  return [singleQuoted(address), ...words].join('');
}

function headerWord(name: string, value: string, secrets: readonly SecretVariable[]): string {
  if (value === undefinedValue) return singleQuoted(`${name}:`);
  if (value.trim() === '') return singleQuoted(`${name};`);
  // Not in the name: a token as short as `x` would be found there.
  const [first, ...further] = piecesOf(value, secrets);
  const start = `${name}: `;
  const pieces: readonly Piece[] =
    first?.variable === undefined
      ? [{ text: start + (first?.text ?? ''), variable: undefined }, ...further]
      : [{ text: start, variable: undefined }, first, ...further];
  const isPlain = pieces.every(
    ({ text, variable }) => variable !== undefined || /^[\w .:=,/+-]*$/.test(text),
  );
  if (isPlain && pieces.some(({ variable }) => variable !== undefined)) {
    return `"${pieces.map(({ text, variable }) => (variable === undefined ? text : `$${variable}`)).join('')}"`;
  }
  return pieces
    .map(({ text, variable }) => (variable === undefined ? headerText(text) : `"$${variable}"`))
    .join('');
}

function headerText(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const readable = printable(bytes);
  return readable === undefined ? escapedWord(bytes) : singleQuoted(readable);
}

interface Piece {
  readonly text: string;
  readonly variable: SecretVariable['variable'] | undefined;
}

function piecesOf(value: string, secrets: readonly SecretVariable[]): readonly Piece[] {
  let pieces: readonly Piece[] = [{ text: value, variable: undefined }];
  for (const { secret, variable, isWhole = false } of secrets) {
    const hidden = Buffer.from(secret.reveal(), 'utf8').toString('latin1');
    if (hidden === '' || (isWhole && hidden !== value)) continue;
    pieces = pieces.flatMap((piece): readonly Piece[] =>
      piece.variable !== undefined ? [piece] : between(piece.text.split(hidden), { text: hidden, variable }),
    );
  }
  return pieces.filter(({ text }) => text !== '');
}

const between = (texts: readonly string[], hidden: Piece): readonly Piece[] =>
  texts.flatMap((text, i): readonly Piece[] => [...(i === 0 ? [] : [hidden]), { text, variable: undefined }]);

/** The text of bytes that a terminal can show and take again unchanged; undefined for any other. */
function printable(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  return sanitize(text) === text && Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}

/** A word that holds any bytes but NUL, which no argument of a program can hold: `$'…'` of bash and zsh. */
const escapedWord = (bytes: Uint8Array): string =>
  `$'${Array.from(bytes, (byte) =>
    byte > 0x1f && byte < 0x7f && byte !== 0x27 && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\x${byte.toString(16).padStart(2, '0')}`,
  ).join('')}'`;

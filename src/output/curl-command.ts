import { shellWord, singleQuoted } from '../front.ts';
import type { Secret } from '../secret.ts';
import { sanitize } from './terminal/terminal.ts';

export interface CurlRequest {
  readonly method: string;
  readonly url: string;
  /** The headers in the order of sending, in node's form with a character for each byte. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  readonly secrets?: readonly SecretVariable[] | undefined;
  readonly caFile?: string | undefined;
  readonly insecure?: boolean | undefined;
}

/**
 * A secret that headers and URL may hold, and the variable, or another expression after `$`, that stands for it in the user's
 * shell. With `isWhole` it replaces whole values only, since a short secret would also be found in other texts.
 */
export interface SecretVariable {
  readonly secret: Secret;
  readonly variable: string;
  readonly isWhole?: boolean;
}

/** Linux takes at most 128 KiB in one argument, so longer bodies go through a pipe. */
const longestArgument = 100_000;

/**
 * Returns a line for bash or zsh that sends the same method, headers and body bytes. A body that is not
 * printable text on one line goes through `base64 -d`.
 */
export function curlCommand(request: CurlRequest): string {
  const { method, url, headers, body, secrets = [], caFile, insecure = false } = request;
  const words = ['curl', '-i'];
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
  const text = printable(body);
  if (text !== undefined && text.length <= longestArgument && !text.startsWith('@')) {
    return [...words, '--data-binary', singleQuoted(text)].join(' ');
  }
  const encoded = Buffer.from(body).toString('base64');
  return `printf %s '${encoded}' | base64 -d | ${[...words, '--data-binary', '@-'].join(' ')}`;
}

/** Replaces each secret in the value by a reference such as `$LEADS_WEBHOOK_TOKEN`. */
export const withVariables = (value: string, secrets: readonly SecretVariable[]): string =>
  textWithReferences(piecesOf('', value, secrets));

/** curl counts the body itself, and would add a content type of its own. */
function sentHeaders(headers: CurlRequest['headers'], sendsBody: boolean): CurlRequest['headers'] {
  const sent = headers.filter(([name]) => !/^content-length$/i.test(name));
  const hasType = sent.some(([name]) => /^content-type$/i.test(name));
  return sendsBody && !hasType ? [...sent, ['Content-Type', removed]] : sent;
}

/**
 * Stands for a value of a header that curl must not add; no real value holds a NUL. In curl, `name:` removes a header, and
 * `name;` sends it without a value.
 */
const removed = '\0';

function urlWord(url: string, secrets: readonly SecretVariable[]): string {
  const [address = '', query = ''] = url.split(/(?<=\?)(.*)/s);
  const pieces = piecesOf(address, query, secrets);
  return pieces.every(isText) ? shellWord(url) : wordOf(pieces);
}

function headerWord(name: string, value: string, secrets: readonly SecretVariable[]): string {
  if (value === removed) return singleQuoted(`${name}:`);
  if (value.trim() === '') return singleQuoted(`${name};`);
  return wordOf(piecesOf(`${name}: `, value, secrets));
}

/** A text, or the variable in place of a secret. */
type Piece = string | Pick<SecretVariable, 'variable'>;

const isText = (piece: Piece): piece is string => typeof piece === 'string';

/** Splits a value at its secrets. The prefix before it is not searched: a token as short as `x` would be found there. */
function piecesOf(prefix: string, value: string, secrets: readonly SecretVariable[]): readonly Piece[] {
  let pieces: readonly Piece[] = [value];
  for (const { secret, variable, isWhole = false } of secrets) {
    // Header values have a character for each byte, which a secret beyond ASCII has not.
    const secretText = Buffer.from(secret.reveal(), 'utf8').toString('latin1');
    if (secretText === '' || (isWhole && secretText !== value)) continue;
    pieces = pieces.flatMap((piece) => {
      if (!isText(piece)) return [piece];
      const [start = '', ...further] = piece.split(secretText);
      return [start, ...further.flatMap((text): Piece[] => [{ variable }, text])];
    });
  }
  const [start = '', ...further] = pieces;
  const joined = isText(start) ? [prefix + start, ...further] : [prefix, ...pieces];
  return joined.filter((piece) => piece !== '');
}

const textWithReferences = (pieces: readonly Piece[]): string =>
  pieces.map((piece) => (isText(piece) ? piece : `$${piece.variable}`)).join('');

/** A word in double quotes where these protect the text as well; otherwise each piece has the quotes that it needs. */
function wordOf(pieces: readonly Piece[]): string {
  const isPlain = pieces.every((piece) => !isText(piece) || /^[\w .:=,/+-]*$/.test(piece));
  if (isPlain && !pieces.every(isText)) return `"${textWithReferences(pieces)}"`;
  return pieces.map((piece) => (isText(piece) ? quotedBytes(piece) : `"$${piece.variable}"`)).join('');
}

function quotedBytes(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const readable = printable(bytes);
  return readable === undefined ? escapedWord(bytes) : singleQuoted(readable);
}

/** Returns the text of bytes that a terminal can show and paste unchanged; undefined for any other bytes. */
function printable(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  return sanitize(text) === text && Buffer.from(text, 'utf8').equals(bytes) ? text : undefined;
}

/** Writes any bytes as `$'…'` of bash and zsh, except NUL, which no argument can hold. */
function escapedWord(bytes: Uint8Array): string {
  const characters = Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    const needsNoEscape = /^[ -~]$/.test(character) && character !== "'" && character !== '\\';
    return needsNoEscape ? character : `\\x${byte.toString(16).padStart(2, '0')}`;
  });
  return `$'${characters.join('')}'`;
}

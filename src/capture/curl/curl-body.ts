import { bodyNote, type CaptureNote, type CaptureOptions } from '../capture.ts';
import type { CurlArgument } from './curl-arguments.ts';
import type { Word } from './shell-words.ts';

/** A body, or why it is not known. */
export interface CurlBody {
  readonly bytes: Uint8Array | undefined;
  readonly notes: readonly CaptureNote[];
}

/** The options that make a body. */
export const dataOptions = [
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
export async function curlBody(
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

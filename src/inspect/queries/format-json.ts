import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  endOfString,
  isSpace,
  openBrace,
  openBracket,
  quote,
  skipSpace,
} from '../../json/bytes.ts';
import { readDocument } from '../../json/scanner.ts';

/** Of the result, in characters: the indentation of deep JSON grows with the square of its depth. */
const longest = 4 * 1024 * 1024;

/**
 * JSON indented by two spaces, every token as it came, so that no digit of a number is lost. Undefined for a text that is
 * no JSON, and for one whose result would be too long. Without recursion, since a body may nest deeper than the stack.
 */
export function formatJson(bytes: Uint8Array): string | undefined {
  const document = readDocument(bytes);
  if (!document.ok) return undefined;
  const { json, start, end } = document;
  const pieces: string[] = [];
  let length = 0;
  let depth = 0;
  const add = (text: string): void => {
    pieces.push(text);
    length += text.length;
  };
  const newLine = (): void => add(`\n${'  '.repeat(depth)}`);
  for (let i = start; i < end && length <= longest;) {
    const byte = json[i] ?? 0;
    if (isSpace(byte)) i += 1;
    else if (byte === openBrace || byte === openBracket) {
      const inside = skipSpace(json, i + 1, end);
      if (json[inside] === closeBrace || json[inside] === closeBracket) {
        add(byte === openBrace ? '{}' : '[]');
        i = inside + 1;
        continue;
      }
      add(byte === openBrace ? '{' : '[');
      depth += 1;
      newLine();
      i += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      newLine();
      add(byte === closeBrace ? '}' : ']');
      i += 1;
    } else if (byte === comma) {
      add(',');
      newLine();
      i += 1;
    } else if (byte === colon) {
      add(': ');
      i += 1;
    } else {
      const after = byte === quote ? endOfString(json, i) : endOfWord(json, i, end);
      add(json.toString('utf8', i, after));
      i = after;
    }
  }
  return length > longest ? undefined : pieces.join('');
}

/** Of a number, `true`, `false` or `null`. */
function endOfWord(json: Buffer, start: number, end: number): number {
  const isEnd = (byte: number): boolean =>
    isSpace(byte) || byte === comma || byte === closeBrace || byte === closeBracket;
  let i = start + 1;
  while (i < end && !isEnd(json[i] ?? 0)) i += 1;
  return i;
}

import { JsonIndenter } from '../../json/indent-json.ts';
import { readDocument } from '../../json/scanner.ts';

/** Of the result, in characters: the indentation of deep JSON grows with the square of its depth. */
const longest = 4 * 1024 * 1024;

/** Characters that are indented at once: so far the result may become longer than that. */
const pieceLength = 64;

/**
 * JSON indented by two spaces, every token as it came, so that no digit of a number is lost. Undefined for a text that is
 * no JSON, and for one whose result would be too long.
 */
export function formatJson(bytes: Uint8Array): string | undefined {
  const document = readDocument(bytes);
  if (!document.ok) return undefined;
  const text = document.json.toString('utf8', document.start, document.end);
  const indenter = new JsonIndenter();
  let formatted = '';
  for (let at = 0; at < text.length; at += pieceLength) {
    formatted += indenter.indent(text.slice(at, at + pieceLength));
    if (formatted.length > longest) return undefined;
  }
  return formatted;
}

import { bufferOf } from '../../json/bytes.ts';

/** A body that the sender may have signed instead of the one that was received. */
export interface BodyForm {
  readonly bytes: Uint8Array;
  /** How it differs from the received body; completes "the signature was made over …". */
  readonly what: string;
}

/** Above this, only forms that need no parsing are tried. */
const maxParsed = 262_144;

/** The usual ways in which a signed body and a received body differ; the received body itself is not among them. */
export function bodyForms(body: Uint8Array): readonly BodyForm[] {
  const raw = bufferOf(body);
  const forms: BodyForm[] = [];
  const add = (what: string, text: string | Uint8Array | undefined): void => {
    if (text === undefined) return;
    const bytes = typeof text === 'string' ? Buffer.from(text, 'utf8') : text;
    if (raw.equals(bytes) || forms.some((form) => Buffer.compare(form.bytes, bytes) === 0)) return;
    forms.push({ bytes, what });
  };
  const text = raw.toString('utf8');
  add('the body without its line break at the end', text.replace(/[\r\n]+$/, ''));
  add('the body with a line break at its end', `${text}\n`);
  if (raw.length <= maxParsed) {
    const json = parseJson(text);
    if (json !== undefined) {
      const compact = JSON.stringify(json.value);
      add('the JSON written again without white space', compact);
      add('the JSON written again with two blanks of indentation', JSON.stringify(json.value, null, 2));
      add('the JSON written again with four blanks of indentation', JSON.stringify(json.value, null, 4));
      add('the JSON written again as Python does', withUnicodeEscapes(withSpaces(json.value)));
      add('the JSON written again as Python does, unescaped', withSpaces(json.value));
      add('the JSON written again with \\u escapes', withUnicodeEscapes(compact));
      add('the JSON written again as PHP does', withUnicodeEscapes(compact).replaceAll('/', '\\/'));
      add('the JSON written again with its keys sorted', JSON.stringify(withSortedKeys(json.value)));
    }
  }
  add('the body with LF for CR LF', text.replaceAll('\r\n', '\n'));
  add('the body with CR LF for LF', text.replace(/\r?\n/g, '\r\n'));
  add('the body without its byte order mark', text.replace(/^\ufeff/, ''));
  add('the body with its invalid UTF-8 replaced', text);
  add('the body in Latin-1', raw.toString('latin1'));
  add('an empty body', Buffer.alloc(0));
  return forms;
}

function parseJson(text: string): { value: unknown } | undefined {
  if (isTooDeep(text)) return undefined;
  try {
    return { value: JSON.parse(text.replace(/^\ufeff/, '')) as unknown };
  } catch {
    return undefined;
  }
}

/** Deeper nesting than in any lead: `JSON.parse` reads it, but writing it again would exhaust the stack. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > 200) return true;
  }
  return false;
}

const withUnicodeEscapes = (json: string): string =>
  json.replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** With a space after each comma and colon outside of strings. */
const withSpaces = (value: unknown): string =>
  JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"|[,:]/g, (part) => (part.length === 1 ? `${part} ` : part));

function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, withSortedKeys(member)]));
}

import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { bufferOf } from '../../json/bytes.ts';
import type { BodyFormName } from './body-form-names.ts';
import { jsonForms } from './json-forms.ts';

/** A body that the sender may have signed instead of the one that was received. */
export interface BodyForm {
  readonly name: BodyFormName;
  readonly bytes: Uint8Array;
}

/** In bytes. Above this, only forms that need no parsing are tried. */
const maxParsed = 262_144;

/** In bytes. Above this, no form but the received one is tried: each is a copy. */
const maxCopied = 4 * 1024 * 1024;

/** The usual ways in which a signed body and a received body differ; the received body itself is not among them. */
export function bodyForms(body: Uint8Array): readonly BodyForm[] {
  const raw = bufferOf(body);
  const forms: BodyForm[] = [];
  const add = (name: BodyFormName, bytes: Buffer | undefined): void => {
    if (bytes === undefined || raw.equals(bytes)) return;
    if (!forms.some((form) => Buffer.compare(form.bytes, bytes) === 0)) forms.push({ name, bytes });
  };
  if (raw.length > maxCopied) return forms;
  // As Latin-1, every byte is one character: what is not UTF-8 survives.
  const bytes = raw.toString('latin1');
  const text = raw.toString('utf8');
  const edited = (changed: string): Buffer => Buffer.from(changed, 'latin1');
  add('no-line-break', edited(bytes.replace(/[\r\n]+$/, '')));
  add('line-break', edited(`${bytes}\n`));
  add('crlf-line-break', edited(`${bytes}\r\n`));
  add('lf', edited(bytes.replaceAll('\r\n', '\n')));
  add('crlf', edited(bytes.replace(/\r?\n/g, '\r\n')));
  add('no-bom', edited(bytes.replace(/^\xef\xbb\xbf/, '')));
  add('bom', edited(`\xef\xbb\xbf${bytes}`));
  // Behind the smaller changes: what was written again as JSON has lost its byte order mark and line breaks too.
  if (raw.length <= maxParsed) {
    for (const [name, json] of jsonForms(text)) add(name, Buffer.from(json));
  }
  add('decompressed', decompress(raw));
  add('utf8-replaced', Buffer.from(text));
  add('utf8-twice', Buffer.from(bytes, 'utf8'));
  add('latin1', inLatin1(text));
  add('empty', Buffer.alloc(0));
  return forms;
}

/** Undefined for a text that Latin-1 cannot hold. */
const inLatin1 = (text: string): Buffer | undefined =>
  /[^\u0000-\u00ff]/.test(text) ? undefined : Buffer.from(text, 'latin1');

/** In bytes: a few hundred bytes can decompress to gigabytes. */
const maxOutputLength = 4 * 1024 * 1024;

/** What a compressed body holds (gzip, deflate or brotli); undefined for a body that is none of these, or too large. */
function decompress(body: Uint8Array): Buffer | undefined {
  const [first = 0, second = 0] = body;
  const expand =
    first === 0x1f && second === 0x8b ? gunzipSync : first === 0x78 ? inflateSync : brotliDecompressSync;
  // Brotli has no mark at its start; what begins like text is not worth the attempt.
  if (body.length < 4 || (expand === brotliDecompressSync && /[\s"[{]/.test(String.fromCharCode(first)))) {
    return undefined;
  }
  try {
    return expand(body, { maxOutputLength });
  } catch {
    return undefined;
  }
}

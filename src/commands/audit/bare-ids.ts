import { DataError } from '../../errors.ts';

/** What a file holds: objects, or ids alone, one a line or in an array. */
export type FileForm = 'objects' | 'lines' | 'array';

type Chunks = AsyncIterable<Buffer>;

/** What a file holds goes by its first bytes; `chunks` is all of it. */
export async function looksInto(file: Chunks): Promise<{ readonly form: FileForm; readonly chunks: Chunks }> {
  const rest = file[Symbol.asyncIterator]();
  let head: Buffer = Buffer.alloc(0);
  let form: FileForm | undefined;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    head = Buffer.concat([head, next.value]);
    form = formOf(head);
    if (form !== undefined) break;
  }
  const chunks = async function* (): Chunks {
    yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  };
  return { form: form ?? 'objects', chunks: chunks() };
}

/** Undefined where that takes more bytes. */
function formOf(head: Buffer): FileForm | undefined {
  const [, bracket, first] = /^(?:\xef\xbb\xbf)?\s*(?:(\[)\s*)?([^\s[])/.exec(head.toString('latin1')) ?? [];
  if (first === undefined) return undefined;
  if (first === '{' || first === ']') return 'objects';
  return bracket === undefined ? 'lines' : 'array';
}

/** A text in quotes, or what has none; a quote that is not closed goes on in the next chunk. */
const tokens = { array: /"(?:[^"\\]|\\.)*"|[^\s,[\]"]+|"/g, lines: /[^\r\n]+/g };

/** The head of a column that a database has printed. */
const columnHead = /^"?id"?$/i;

/** Ids as they stand or as JSON, one a line or in one array. Throws a `DataError` for what is none. */
export async function* idsIn(
  chunks: Chunks,
  form: 'lines' | 'array',
  name: string,
): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = '';
  let nth = 0;
  const take = (text: string, isEnd: boolean): string[] => {
    const ids: string[] = [];
    rest = '';
    for (const { 0: found, index } of text.matchAll(tokens[form])) {
      if (!isEnd && (found === '"' || index + found.length === text.length)) {
        rest = text.slice(index);
        break;
      }
      nth += 1;
      const token = found.trim();
      if (token === '' || (nth === 1 && form === 'lines' && columnHead.test(token))) continue;
      const id = idOf(token, form);
      if (id === undefined) {
        throw new DataError(`${name}: entry ${nth} is neither an object nor an id`, {
          hint: 'one JSON object or one id a line is read, an array of them, and objects that hold leads (--lead-at)',
        });
      }
      ids.push(id);
    }
    return ids;
  };
  for await (const chunk of chunks) yield take(rest + decoder.decode(chunk, { stream: true }), false);
  yield take(rest + decoder.decode(), true);
}

/** An entry that stands in a line as it is. What begins with a quote is JSON, or CSV that doubles the quotes in it. */
const bareId = /^(?!(?:null|true|false)$)[^\s,;"'<>{}[\]]+$/;
const csvId = /^"(?:[^"]|"")+"$/;

function idOf(token: string, form: 'lines' | 'array'): string | undefined {
  if (form === 'lines' && bareId.test(token)) return token;
  try {
    const value: unknown = JSON.parse(token);
    // A number has more digits than a double keeps.
    if (typeof value === 'number') return token;
    return typeof value === 'string' && value !== '' ? value : undefined;
  } catch {
    return form === 'lines' && csvId.test(token) ? token.slice(1, -1).replaceAll('""', '"') : undefined;
  }
}

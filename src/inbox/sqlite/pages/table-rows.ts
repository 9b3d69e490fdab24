import type { Row } from '../libsql.ts';
import type { DatabasePages } from './database-pages.ts';
import { columnsOf, UnreadablePage, varint } from './record.ts';

/** Where a table begins, and how its columns are called, in order. */
interface Table {
  readonly root: number;
  readonly columns: readonly string[];
}

/** Deeper than any tree of pages is. */
const deepest = 20;

const leaf = 13;
const interior = 5;

/** The rows of a table with a whole number for its key, the greatest key first. Nothing where there is no such table. */
export function* newestRows(pages: DatabasePages, name: string): Generator<Row> {
  const table = findTable(pages, name);
  if (table === undefined) return;
  for (const { key, record } of cells(pages, table.root)) yield rowOf(table, key, record());
}

/** The row of that key. */
export function rowAt(pages: DatabasePages, name: string, key: number): Row | undefined {
  const table = findTable(pages, name);
  if (table === undefined) return undefined;
  for (const cell of cells(pages, table.root, key)) {
    return cell.key === key ? rowOf(table, key, cell.record()) : undefined;
  }
  return undefined;
}

function rowOf({ columns }: Table, key: number, record: Buffer): Row {
  const values = columnsOf(record);
  const row = columns.map((column, i) => [column, values[i] ?? null] as const);
  // The key stands beside the record, which has nothing in its place.
  const [first] = columns;
  return { ...Object.fromEntries(row), ...(first === undefined ? {} : { [first]: key }) };
}

/** The schema is a table of its own, at the first page: type, name, table, root, SQL. */
function findTable(pages: DatabasePages, name: string): Table | undefined {
  for (const { record } of cells(pages, 1)) {
    const [type, found, , root, sql] = columnsOf(record());
    if (type === 'table' && found === name && typeof root === 'number' && typeof sql === 'string') {
      return { root, columns: columnNames(sql) };
    }
  }
  return undefined;
}

/** Of our own tables: each column is a name with a type, and no comma stands within one. */
const columnNames = (sql: string): string[] =>
  sql
    .slice(sql.indexOf('(') + 1)
    .split(',')
    .map((column) => /\w+/.exec(column)?.[0] ?? '');

interface Cell {
  readonly key: number;
  readonly record: () => Buffer;
}

/** From the greatest key that is not above `from`, downwards. */
function* cells(pages: DatabasePages, root: number, from = Infinity, depth = 0): Generator<Cell> {
  const page = pages.page(root);
  // The header of the database stands before that of its first page.
  const start = root === 1 ? 100 : 0;
  const kind = page.readUInt8(start);
  if ((kind !== leaf && kind !== interior) || depth > deepest) {
    throw new UnreadablePage(`page ${root} is of no table`);
  }
  const pointers = start + (kind === leaf ? 8 : 12);
  const count = page.readUInt16BE(start + 3);
  if (kind === leaf) {
    for (let i = count - 1; i >= 0; i -= 1) {
      const cell = leafCell(pages, page, page.readUInt16BE(pointers + 2 * i));
      if (cell.key <= from) yield cell;
    }
    return;
  }
  const children: { page: number; greatest: number }[] = [];
  for (let i = 0; i < count; i += 1) {
    const at = page.readUInt16BE(pointers + 2 * i);
    children.push({ page: page.readUInt32BE(at), greatest: varint(page, at + 4)[0] });
  }
  children.push({ page: page.readUInt32BE(start + 8), greatest: Infinity });
  // The first one that reaches up to `from`, and then those below it.
  const first = children.findIndex(({ greatest }) => greatest >= from);
  for (const child of children.slice(0, first + 1).reverse())
    yield* cells(pages, child.page, from, depth + 1);
}

function leafCell(pages: DatabasePages, page: Buffer, at: number): Cell {
  const [length, keyAt] = varint(page, at);
  const [key, start] = varint(page, keyAt);
  return { key, record: () => recordOf(pages, page.subarray(start), length) };
}

/** What does not fit into the page goes on in a chain of others. */
function recordOf(pages: DatabasePages, cell: Buffer, length: number): Buffer {
  const { usableSize } = pages;
  const here = bytesHere(usableSize, length);
  if (here === length) return cell.subarray(0, length);
  const parts = [cell.subarray(0, here)];
  let next = cell.readUInt32BE(here);
  for (let left = length - here; left > 0 && next !== 0;) {
    const overflow = pages.page(next);
    const part = overflow.subarray(4, Math.min(usableSize, 4 + left));
    parts.push(part);
    left -= part.length;
    next = overflow.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function bytesHere(usableSize: number, length: number): number {
  const most = usableSize - 35;
  if (length <= most) return length;
  const least = Math.floor(((usableSize - 12) * 32) / 255) - 23;
  const wanted = least + ((length - least) % (usableSize - 4));
  return wanted <= most ? wanted : least;
}

import { bufferOf } from '../../json/bytes.ts';

/**
 * A value beside a statement, as the protocol carries it: as text, or in the binary form of its type. `type`: the number of
 * its type; 0 lets the statement decide.
 */
interface Parameter {
  readonly type: number;
  readonly value: string | Buffer;
}

/** One statement, in which `$1` stands for its first parameter. */
export interface Statement {
  readonly text: string;
  readonly parameters: readonly Parameter[];
}

/** Between two statements; a part of the text is never this alone. */
const end = ';';

type Part = string | Parameter;

/** Statements whose values travel beside them. Made by `sql` and by the functions below only. */
export class Sql {
  readonly parts: readonly Part[];

  constructor(parts: readonly Part[]) {
    this.parts = parts;
  }

  /** Each of them, for a message of its own. */
  get statements(): readonly Statement[] {
    const all: Statement[] = [];
    let text = '';
    let parameters: Parameter[] = [];
    for (const part of [...this.parts, end]) {
      if (typeof part !== 'string') text += `$${parameters.push(part)}`;
      else if (part !== end) text += part;
      else {
        if (text.trim() !== '') all.push({ text: text.trim(), parameters });
        text = '';
        parameters = [];
      }
    }
    return all;
  }

  /** As a person reads it. */
  get text(): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : '$')).join('');
  }
}

/** A value that cannot be sent. */
export class ParameterError extends TypeError {}

type Value = Sql | number | boolean | Uint8Array | List;

/** Of one type. Where it may be empty, the statement says of which: `${ids}::bytea[]`. */
type List = readonly number[] | readonly boolean[] | readonly string[] | readonly Uint8Array[];

const splitTemplates = new WeakMap<TemplateStringsArray, readonly (readonly string[])[]>();

function partsOf(strings: TemplateStringsArray): readonly (readonly string[])[] {
  const known = splitTemplates.get(strings);
  if (known !== undefined) return known;
  const split = strings.map((text) => text.split(/(;)/).filter((part) => part !== ''));
  splitTemplates.set(strings, split);
  return split;
}

/**
 * SQL with values as parameters: a server that logs a statement, because it failed or took long, writes `$1`. Numbers are
 * whole and of eight bytes, texts of our own alone: text from outside goes in as bytes, of which no parser or cast of the
 * database makes anything.
 */
export function sql(strings: TemplateStringsArray, ...values: readonly Value[]): Sql {
  const parts: Part[] = [];
  partsOf(strings).forEach((text, i) => {
    parts.push(...text);
    const value = values[i];
    if (value === undefined) return;
    if (value instanceof Sql) for (const part of value.parts) parts.push(part);
    else parts.push(parameter(value));
  });
  return new Sql(parts);
}

/** Several after each other; what is undefined is left out. */
export const statements = (...some: readonly (Sql | undefined)[]): Sql =>
  new Sql(some.flatMap((one) => (one === undefined ? [] : [...one.parts, '\n'])));

/** A name of the database's, such as a table's. */
export function identifier(name: string): Sql {
  if (name === '' || name.includes('\0') || /\p{Surrogate}/u.test(name))
    throw new ParameterError('no name of a database object');
  return new Sql([`"${name.replaceAll('"', '""')}"`]);
}

/** A number where the grammar takes no parameter. */
export const integerLiteral = (value: number): Sql => new Sql([integer(value)]);

/** The name of something in a schema, as text for `to_regclass` and `::regclass`. `schema` is an identifier. */
export function qualifiedName(schema: Sql, name: string): Sql {
  const quoted = `${schema.text}.${identifier(name).text}`.replaceAll("'", "''").replaceAll('\\', '\\\\');
  return new Sql([`E'${quoted}'`]);
}

/** A text of our own, of which the statement says the type: `${own(id)}::uuid`. */
export const own = (text: string): Sql => new Sql([{ type: 0, value: text }]);

/** A list in which undefined is null. */
export const nullable = (type: keyof typeof types, list: readonly (Element | undefined)[]): Sql =>
  new Sql([{ type: types[type].list, value: arrayOf(types[type].type, list) }]);

/** The characters of an identifier, for comparison with a name in the catalogue. */
export const bytesOfName = (name: Sql): Uint8Array =>
  Buffer.from(name.text.slice(1, -1).replaceAll('""', '"'), 'utf8');

/** PostgreSQL's numbers of types (`pg_type.dat`), and of their arrays. */
const types = {
  bool: { type: 16, list: 1000 },
  bytea: { type: 17, list: 1001 },
  int8: { type: 20, list: 1016 },
  text: { type: 25, list: 1009 },
} as const;

const typeNames = { boolean: 'bool', number: 'int8', string: 'text', object: 'bytea' } as const;

type Element = List[number];

const typeOf = (value: Element): (typeof types)[keyof typeof types] =>
  types[typeNames[typeof value as keyof typeof typeNames]];

function parameter(value: Exclude<Value, Sql>): Parameter {
  if (!isList(value)) return { type: typeOf(value).type, value: binaryOf(value) };
  const [first] = value;
  if (first === undefined) return { type: 0, value: '{}' };
  const { type, list } = typeOf(first);
  return { type: list, value: arrayOf(type, value) };
}

const isList = (value: Exclude<Value, Sql>): value is List => Array.isArray(value);

/** PostgreSQL's `array_recv`: dimensions, whether there are nulls, the type, the count, the first index, and the elements. */
function arrayOf(type: number, list: readonly (Element | undefined)[]): Buffer {
  const parts: Uint8Array[] = [int32s(1, list.includes(undefined) ? 1 : 0, type, list.length, 1)];
  for (const item of list) {
    if (item === undefined) parts.push(int32s(-1));
    else {
      if (typeOf(item).type !== type) throw new ParameterError('a list of several types');
      const bytes = binaryOf(item);
      parts.push(int32s(bytes.length), bytes);
    }
  }
  return Buffer.concat(parts);
}

function binaryOf(value: Element): Buffer {
  if (typeof value === 'boolean') return Buffer.of(value ? 1 : 0);
  if (typeof value === 'string') return Buffer.from(value);
  if (typeof value !== 'number') return bufferOf(value);
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(BigInt(integer(value)));
  return bytes;
}

function int32s(...numbers: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(4 * numbers.length);
  numbers.forEach((number, i) => bytes.writeInt32BE(number, 4 * i));
  return bytes;
}

function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new ParameterError('not an integer');
  return String(value);
}

export const hexOf = (bytes: Uint8Array): string => bufferOf(bytes).toString('hex');

/** A row as the connection gives it: true or false, null, and all else as the database writes it; bytes are asked for in hex. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of one statement. */
export type Rows = readonly Row[];

export const numberOf = (value: unknown): number => Number(value);

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Of `encode(…, 'hex')`. */
export const bytesOf = (value: unknown): Buffer => Buffer.from(textOf(value), 'hex');

export const isNull = (value: unknown): value is null | undefined => value === null || value === undefined;

const encoder = new TextEncoder();

const loneSurrogate = /\p{Surrogate}/u;

/** A high surrogate is U+D800 to U+DBFF, a low one up to U+DFFF; alone they have no UTF-8. */
const isSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;

/**
 * Text as the bytes under which it is stored, so that no two texts share theirs and PostgreSQL's `text`, which takes no
 * NUL, is not needed: UTF-8, and half a surrogate pair in the three bytes that its number would have there (WTF-8).
 */
export function bytesOfText(text: string): Uint8Array {
  if (!loneSurrogate.test(text)) return encoder.encode(text);
  const parts = Array.from(text, (character) => {
    const code = character.charCodeAt(0);
    return character.length === 1 && isSurrogate(code)
      ? Uint8Array.of(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f))
      : encoder.encode(character);
  });
  return Buffer.concat(parts);
}

/** The text that `bytesOfText` made them of. */
export function textOfBytes(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  let text = '';
  let start = 0;
  // In UTF-8 a byte ED is followed by 80 to 9F.
  for (let i = buffer.indexOf(0xed); i !== -1; i = buffer.indexOf(0xed, i + 1)) {
    const second = buffer[i + 1] ?? 0;
    if (second < 0xa0) continue;
    const code = 0xd000 | ((second & 0x3f) << 6) | ((buffer[i + 2] ?? 0) & 0x3f);
    text += buffer.toString('utf8', start, i) + String.fromCharCode(code);
    start = i + 3;
  }
  return text + buffer.toString('utf8', start);
}

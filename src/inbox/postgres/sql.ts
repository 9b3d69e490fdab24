/** Statements in which every value from outside is a literal. Made by `sql` and by the functions below only. */
export class Sql {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value that cannot be written into a statement. */
export class LiteralError extends TypeError {}

type Value =
  Sql | number | boolean | Uint8Array | readonly number[] | readonly boolean[] | readonly Uint8Array[];

/**
 * SQL with values written into it, so that a transaction's statements go in one message and need no prepared statement,
 * which a pooler would not keep. Numbers are integers; a list is an array of `int8`, `bool` or `bytea`. Text is not
 * taken: it goes in as bytes. What is written is the same under every setting of `standard_conforming_strings`,
 * `bytea_output` and `array_nulls`.
 */
export function sql(strings: TemplateStringsArray, ...values: readonly Value[]): Sql {
  return new Sql(
    values.reduce<string>(
      (text, value, i) => text + literal(value) + (strings[i + 1] ?? ''),
      strings[0] ?? '',
    ),
  );
}

/** Several after each other; what is undefined is left out. */
export const statements = (...parts: readonly (Sql | undefined)[]): Sql =>
  new Sql(parts.map((part) => part?.text ?? '').join('\n'));

/** A name of the database's, such as a table's. */
export function identifier(name: string): Sql {
  if (name === '' || name.includes('\0') || /\p{Surrogate}/u.test(name))
    throw new LiteralError('no name of a database object');
  return new Sql(`"${name.replaceAll('"', '""')}"`);
}

/** A number where the grammar takes no expression. */
export const integerLiteral = (value: number): Sql => new Sql(integer(value));

/** The name of something in a schema, as text for `to_regclass` and `::regclass`. `schema` is an identifier. */
export function qualifiedName(schema: Sql, name: string): Sql {
  const quoted = `${schema.text}.${identifier(name).text}`.replaceAll("'", "''").replaceAll('\\', '\\\\');
  return new Sql(`E'${quoted}'`);
}

export function uuid(value: string): Sql {
  if (!/^[0-9a-f-]{36}$/.test(value)) throw new LiteralError('not a UUID');
  return new Sql(`'${value}'::uuid`);
}

/** Ranges of whole numbers, as `multirangeOf` writes them. */
export function multirange(value: string): Sql {
  if (!/^\{[[\d,)]*\}$/.test(value)) throw new LiteralError('not a multirange');
  return new Sql(`'${value}'::int8multirange`);
}

/** The characters of an identifier, for comparison with a name in the catalogue. */
export const bytesOfName = (name: Sql): Uint8Array =>
  Buffer.from(name.text.slice(1, -1).replaceAll('""', '"'), 'utf8');

/** Words of our own, such as a verdict, as an array of `text`; the empty one is null. */
export function keywordArray(list: readonly (string | undefined)[]): Sql {
  const wrong = list.find((word) => word !== undefined && !/^[a-z_]+$/.test(word));
  if (wrong !== undefined) throw new LiteralError('not a word of the program');
  return new Sql(`array_replace('{${list.map((word) => `"${word ?? ''}"`).join()}}'::text[], '', NULL)`);
}

function literal(value: Value): string {
  if (value instanceof Sql) return value.text;
  if (typeof value === 'number') return `(${integer(value)})`;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value instanceof Uint8Array) return `E'\\\\x${hexOf(value)}'::bytea`;
  return arrayLiteral(value);
}

function arrayLiteral(list: Exclude<Value, Sql | number | boolean | Uint8Array>): string {
  // Of no type: where it may be empty, the statement says which.
  if (list.length === 0) return "'{}'";
  if (list.every((item) => typeof item === 'number')) return `'{${list.map(integer).join()}}'::int8[]`;
  if (list.every((item) => typeof item === 'boolean')) return `'{${list.join()}}'::bool[]`;
  // Read twice: as a string with escapes, then as an array with quoted elements.
  const elements = list.map((item) => (item instanceof Uint8Array ? `"\\\\\\\\x${hexOf(item)}"` : never()));
  return `E'{${elements.join()}}'::bytea[]`;
}

function integer(value: number): string {
  if (!Number.isSafeInteger(value)) throw new LiteralError('not an integer');
  return String(value);
}

export const hexOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');

function never(): never {
  throw new LiteralError('a list of several types');
}

/** A row as the driver gives it: integers of eight bytes come as text, and bytes are asked for in hex. */
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
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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

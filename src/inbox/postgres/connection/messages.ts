import { int32s, type Row, type Statement } from '../sql.ts';

/** PostgreSQL, "Message Formats". A message from the server: its kind, one letter, and what follows its length. */
export interface Message {
  readonly kind: string;
  readonly body: Buffer;
}

/** Version 3.0 of the protocol. */
const protocolVersion = 196_608;

/** Of a string in a message. */
const zero = Buffer.of(0);

const text = (value: string): Buffer => Buffer.concat([Buffer.from(value), zero]);

const int16s = (...numbers: readonly number[]): Buffer =>
  Buffer.from(numbers.flatMap((number) => [number >> 8, number & 255]));

function message(kind: string, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 4);
  return Buffer.concat([Buffer.from(kind), int32s(length), ...parts]);
}

export const startup = (parameters: Readonly<Record<string, string>>): Buffer =>
  message('', int32s(protocolVersion), ...Object.entries(parameters).flat().map(text), zero);

export const password = (value: string): Buffer => message('p', text(value));

/** The first message of an authentication by SASL. */
export const saslInitial = (mechanism: string, data: string): Buffer =>
  message('p', text(mechanism), int32s(Buffer.byteLength(data)), Buffer.from(data));

export const saslResponse = (data: string): Buffer => message('p', Buffer.from(data));

export const terminate: Buffer = message('X');

const sync = message('S');
const describePortal = message('D', Buffer.from('P'), zero);
const execute = message('E', zero, int32s(0));

/**
 * Parse, Bind, Describe and Execute of each statement, unnamed: a pooler would not keep a name. One Sync ends them all,
 * so that they are answered in one round trip, and that a failed one keeps those behind it from running.
 */
export const extendedQuery = (statements: readonly Statement[]): Buffer =>
  Buffer.concat([
    ...statements.flatMap(({ text: statement, parameters }) => {
      const count = parameters.length;
      return [
        message('P', zero, text(statement), int16s(count), int32s(...parameters.map(({ type }) => type))),
        message(
          'B',
          zero,
          zero,
          int16s(count, ...parameters.map(({ isBinary }) => (isBinary ? 1 : 0)), count),
          ...parameters.flatMap(({ bytes }) => [int32s(bytes.length), bytes]),
          int16s(0),
        ),
        describePortal,
        execute,
      ];
    }),
    sync,
  ]);

/** A kind and a length. */
const headBytes = 5;

/** Joins what comes from the socket to whole messages. */
export class MessageReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Bytes that the next message has, as far as it is known. */
  #needed = headBytes;

  *read(piece: Buffer): Generator<Message> {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes < this.#needed) return;
    const all = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    let at = 0;
    this.#needed = headBytes;
    while (all.length - at >= headBytes) {
      const end = at + 1 + all.readInt32BE(at + 1);
      if (end > all.length) {
        this.#needed = end - at;
        break;
      }
      yield { kind: all.toString('latin1', at, at + 1), body: all.subarray(at + headBytes, end) };
      at = end;
    }
    this.#pieces = at === all.length ? [] : [all.subarray(at)];
    this.#bytes = all.length - at;
  }
}

/** The text of a string that ends with a zero, and where the next one begins. */
function textAt(body: Buffer, start: number): [text: string, next: number] {
  const end = body.indexOf(0, start);
  return [body.toString('utf8', start, end), end + 1];
}

export interface Column {
  readonly name: string;
  readonly isBoolean: boolean;
}

const booleanType = 16;

/** Behind a column's name: its table, number, type, size, modifier and format. */
const columnBytes = 18;

/** Of a RowDescription. */
export function columnsIn(body: Buffer): readonly Column[] {
  const columns: Column[] = [];
  for (let at = 2; at < body.length;) {
    const [name, next] = textAt(body, at);
    columns.push({ name, isBoolean: body.readInt32BE(next + 6) === booleanType });
    at = next + columnBytes;
  }
  return columns;
}

/** Of a DataRow. */
export function rowIn(body: Buffer, columns: readonly Column[]): Row {
  const row: Record<string, unknown> = {};
  let at = 2;
  for (const { name, isBoolean } of columns) {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) row[name] = null;
    else {
      const value = body.toString('utf8', at, at + length);
      row[name] = isBoolean ? value === 't' : value;
      at += length;
    }
  }
  return row;
}

/** Of a CommandComplete, such as `COMMIT`. */
export const tagIn = (body: Buffer): string => textAt(body, 0)[0];

/** Of an ErrorResponse or a NoticeResponse, by the letter of each. */
export function fieldsIn(body: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (let at = 0; at < body.length && body[at] !== 0;) {
    const [value, next] = textAt(body, at + 1);
    fields.set(body.toString('latin1', at, at + 1), value);
    at = next;
  }
  return fields;
}

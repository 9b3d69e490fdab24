// AssemblyScript, a strict part of TypeScript that compiles to WebAssembly: a scan of JSON in JavaScript takes a byte
// at a time and checks every index, here sixteen bytes of a string are looked at in one step. `src/lead/scanner.ts`
// calls it.
//
// Memory: what a scan of records found beside its rows (`Found`), the rows, the text, and behind the text a byte for
// each level of nesting, so that no depth can crash a scan.

const scratch: usize = 1024;
const firstRow: usize = 2048;
const mostRows = 1024;
const text: usize = 65536;
/** Sixteen bytes are read at once, also where the text ends. */
const slack = 16;

/** More bytes are needed. What is below it says where a byte is that is not JSON: `-2 - at`. */
const incomplete = -1;

// How a scan of records ended, when it was neither of these.
const ended = 0;
const rowsFull = 1;
const noObject = 2;

// What an array of records expects next.
const firstRecord = 0;
const nextRecord = 1;
const separator = 2;
const nothing = 3;

// What an object's own `id` is.
const missing = 0;
const asItStands = 1;
const escaped = 2;
const unusable = 3;
const repeated = 4;

// The keys of a lead that the tool itself needs.
const other = 0;
const id = 1;
const createdAt = 2;
const category = 3;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const minus = 0x2d;
const zero = 0x30;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

@unmanaged
class Found {
  rows: i32;
  /** Behind the last byte that was taken in. */
  done: i32;
  expects: i32;
}
const found = changetype<Found>(16);

/** Places in the text: of a record, of the content of its id, and of two values. 0 and 0 where there is none. */
@unmanaged
class Row {
  start: i32;
  end: i32;
  idStart: i32;
  idEnd: i32;
  idKind: i32;
  createdStart: i32;
  createdEnd: i32;
  categoryStart: i32;
  categoryEnd: i32;
  /** 1 when white space stands between the record's tokens. */
  spaced: i32;
}

/** Length of the text. */
let limit = 0;
let nesting: usize = 0;
let spaced = 0;
/** Whether the string that was passed last is written with escapes. */
let hasEscapes = false;

/** Makes room for a text of this many bytes, which is to be written there next. */
export function reserve(length: i32): void {
  limit = length;
  nesting = text + length + slack;
  growTo(nesting);
  // No token can pass it, so that nothing else has to look where the text ends.
  store<u8>(text + length, 0);
}

/** Scans one value from its first byte; row 0 says where it lies. Behind its last byte, or negative. */
export function value(start: i32): i32 {
  return scan(start, changetype<Row>(firstRow));
}

/** Takes records out of an array until one is not complete, the array ends, or there is no row left. */
export function records(from: i32, expecting: i32): i32 {
  let i = from;
  let expects = expecting;
  let rows = 0;
  let end = rowsFull;
  found.done = from;
  while (rows < mostRows) {
    i = pastSpace(i);
    const byte = byteAt(i);
    if (byte == closeBracket && (expects == separator || expects == firstRecord)) {
      expects = nothing;
      found.done = i + 1;
      end = ended;
      break;
    }
    if (expects == separator) {
      if (byte != comma) {
        end = invalidAt(i);
        break;
      }
      expects = nextRecord;
      i += 1;
      found.done = i;
      continue;
    }
    end = scan(i, changetype<Row>(firstRow + rows * offsetof<Row>()));
    if (end < 0) break;
    if (byte != openBrace) {
      end = noObject;
      break;
    }
    i = end;
    end = rowsFull;
    rows += 1;
    expects = separator;
    found.done = i;
  }
  found.rows = rows;
  found.expects = expects;
  return end;
}

/** Checks the grammar of one value (RFC 8259; UTF-8 is the caller's to check) and fills its row. */
function scan(start: i32, row: Row): i32 {
  memory.fill(changetype<usize>(row), 0, offsetof<Row>());
  spaced = 0;
  let depth = 0;
  let inObject = false;
  let field = other;
  let valueStart = start;
  let i = start;
  while (true) {
    i = pastSpace(i);
    const byte = byteAt(i);
    if (depth == 1) valueStart = i;
    if (byte == openBrace || byte == openBracket) {
      setInObject(depth, inObject);
      depth += 1;
      inObject = byte == openBrace;
      i = pastSpace(i + 1);
      if (byteAt(i) != (inObject ? closeBrace : closeBracket)) {
        if (inObject) {
          const keyStart = i;
          i = pastKey(i);
          if (i < 0) return i;
          if (depth == 1) field = fieldAt(keyStart);
        }
        continue;
      }
      i += 1;
      depth -= 1;
      inObject = wasInObject(depth);
    } else {
      i = pastScalar(i);
      if (i < 0) return i;
    }
    // A value has just ended: on to the next one, past everything that ends with it.
    while (true) {
      if (depth == 0) {
        row.start = start;
        row.end = i;
        row.spaced = spaced;
        return i;
      }
      if (depth == 1 && field != other) {
        note(row, field, valueStart, i);
        field = other;
      }
      i = pastSpace(i);
      if (byteAt(i) == comma) {
        i += 1;
        if (inObject) {
          const keyStart = (i = pastSpace(i));
          i = pastKey(i);
          if (i < 0) return i;
          if (depth == 1) field = fieldAt(keyStart);
        }
        break;
      }
      if (byteAt(i) != (inObject ? closeBrace : closeBracket)) return invalidAt(i);
      i += 1;
      depth -= 1;
      inObject = wasInObject(depth);
    }
  }
}

function note(row: Row, field: i32, start: i32, end: i32): void {
  if (field == createdAt) {
    row.createdStart = start;
    row.createdEnd = end;
  } else if (field == category) {
    row.categoryStart = start;
    row.categoryEnd = end;
  } else {
    row.idKind = row.idKind == missing ? idKind(start, end) : repeated;
    const inner = byteAt(start) == quote ? 1 : 0;
    row.idStart = start + inner;
    row.idEnd = end - inner;
  }
}

/** An id is a string that is not empty, or an integer. */
function idKind(start: i32, end: i32): i32 {
  if (byteAt(start) == quote) return hasEscapes ? escaped : end - start > 2 ? asItStands : unusable;
  for (let i = byteAt(start) == minus ? start + 1 : start; i < end; i += 1) {
    if (!isDigit(byteAt(i))) return unusable;
  }
  return asItStands;
}

/** Behind the key at `at` and its colon. */
function pastKey(at: i32): i32 {
  if (byteAt(at) != quote) return invalidAt(at);
  const end = pastString(at + 1);
  if (end < 0) return end;
  keyEnd = end - 1;
  const i = pastSpace(end);
  return byteAt(i) == colon ? i + 1 : invalidAt(i);
}
let keyEnd = 0;

/** Which field the key is that was passed last; `at` is on its opening quote. */
function fieldAt(at: i32): i32 {
  if (hasEscapes) return fieldNamed(scratch, unescaped(at + 1, keyEnd));
  return fieldNamed(text + at + 1, keyEnd - at - 1);
}

function fieldNamed(name: usize, length: i32): i32 {
  if (length == 2 && load<u16>(name) == 0x6469) return id;
  if (length == 8 && load<u64>(name) == 0x79726f6765746163) return category;
  if (length == 9 && load<u64>(name) == 0x4164657461657263 && load<u8>(name, 8) == 0x74) return createdAt;
  return other;
}

/** Writes a key's characters to `scratch`, if they are few and ASCII, and tells how many; `"\u0069d"` is `id`. */
function unescaped(start: i32, end: i32): i32 {
  let length = 0;
  for (let i = start; i < end; i += 1) {
    let character = byteAt(i);
    if (character == backslash) {
      if (byteAt(i + 1) != 0x75) return 0;
      character = 0;
      for (let digit = i + 2; digit < i + 6; digit += 1)
        character = (character << 4) | hexValue(byteAt(digit));
      i += 5;
    }
    if (character >= 0x80 || length == 16) return 0;
    store<u8>(scratch + length, character);
    length += 1;
  }
  return length;
}

/** A string, a number, or a word; `at` is on its first byte. */
function pastScalar(at: i32): i32 {
  const byte = byteAt(at);
  if (byte == quote) return pastString(at + 1);
  if (byte == minus || isDigit(byte)) return pastNumber(at);
  if (byte == 0x74) return pastWord(at, 0x65757274, 4);
  if (byte == 0x66) return pastWord(at, 0x65736c6166, 5);
  if (byte == 0x6e) return pastWord(at, 0x6c6c756e, 4);
  return invalidAt(at);
}

/** `at` is behind the opening quote. */
function pastString(at: i32): i32 {
  hasEscapes = false;
  let i = at;
  while (true) {
    const some = v128.load(i, text);
    // Control characters are not allowed in a string (RFC 8259, section 7).
    const special = i8x16.bitmask(
      v128.or(
        v128.or(i8x16.eq(some, i8x16.splat(<i8>quote)), i8x16.eq(some, i8x16.splat(<i8>backslash))),
        i8x16.lt_u(some, i8x16.splat(0x20)),
      ),
    );
    if (special == 0) {
      i += 16;
      continue;
    }
    i += ctz(special);
    if (byteAt(i) == quote) return i + 1;
    if (byteAt(i) != backslash) return invalidAt(i);
    hasEscapes = true;
    i += 1;
    const byte = byteAt(i);
    if (byte == 0x75) {
      for (const end = i + 4; i < end;) {
        i += 1;
        if (!isHex(byteAt(i))) return invalidAt(i);
      }
    } else if (!isEscapable(byte)) {
      return invalidAt(i);
    }
    i += 1;
  }
}

/** A number that touches the text's end is incomplete: another digit may follow. */
function pastNumber(at: i32): i32 {
  let i = byteAt(at) == minus ? at + 1 : at;
  if (!isDigit(byteAt(i))) return invalidAt(i);
  i = byteAt(i) == zero ? i + 1 : pastDigits(i);
  if (byteAt(i) == 0x2e) {
    i += 1;
    if (!isDigit(byteAt(i))) return invalidAt(i);
    i = pastDigits(i);
  }
  if ((byteAt(i) | 0x20) == 0x65) {
    i += 1;
    if (byteAt(i) == 0x2b || byteAt(i) == minus) i += 1;
    if (!isDigit(byteAt(i))) return invalidAt(i);
    i = pastDigits(i);
  }
  return i == limit ? incomplete : i;
}

function pastDigits(at: i32): i32 {
  let i = at;
  while (isDigit(byteAt(i))) i += 1;
  return i;
}

/** `letters` are the word's, the first in the lowest byte. */
function pastWord(at: i32, letters: u64, length: i32): i32 {
  for (let i = 1; i < length; i += 1) {
    if (byteAt(at + i) != <i32>((letters >> (i * 8)) & 0xff)) return invalidAt(at + i);
  }
  return at + length;
}

function pastSpace(at: i32): i32 {
  let i = at;
  while (byteAt(i) <= 0x20 && isSpace(byteAt(i))) {
    spaced = 1;
    i += 1;
  }
  return i;
}

function setInObject(depth: i32, inObject: bool): void {
  growTo(nesting + depth + 1);
  store<bool>(nesting + depth, inObject);
}

function wasInObject(depth: i32): bool {
  return load<bool>(nesting + depth);
}

function growTo(end: usize): void {
  const missing = <i32>((end + 0xffff) >> 16) - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
}

function invalidAt(at: i32): i32 {
  return at == limit ? incomplete : -2 - at;
}

function byteAt(at: i32): i32 {
  return load<u8>(at, text);
}

function isSpace(byte: i32): bool {
  return byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09;
}

function isDigit(byte: i32): bool {
  return <u32>(byte - zero) < 10;
}

function isHex(byte: i32): bool {
  return isDigit(byte) || <u32>((byte | 0x20) - 0x61) < 6;
}

function hexValue(byte: i32): i32 {
  return isDigit(byte) ? byte - zero : (byte | 0x20) - 0x61 + 10;
}

/** What may stand behind a backslash beside `u`. */
function isEscapable(byte: i32): bool {
  return (
    byte == quote ||
    byte == backslash ||
    byte == 0x2f ||
    byte == 0x62 ||
    byte == 0x66 ||
    byte == 0x6e ||
    byte == 0x72 ||
    byte == 0x74
  );
}

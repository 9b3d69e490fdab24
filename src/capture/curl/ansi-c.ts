const named: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

const escape =
  /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g;

/** The bytes of what stands in `$'…'`, in Latin-1 (bash, "ANSI-C Quoting"). `\u` gives the bytes of UTF-8. */
export const decodeAnsiC = (text: string): string =>
  text.replace(escape, (all: string, hex, short, long, octal, control, other) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(String(hex), 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(String(octal), 8) & 0xff);
    if (control !== undefined) return String.fromCharCode(String(control).charCodeAt(0) & 0x1f);
    const point = (short ?? long) as string | undefined;
    if (point !== undefined) return utf8Bytes(Number.parseInt(point, 16));
    const character = String(other);
    return named[character] ?? (/["'?\\]/.test(character) ? character : all);
  });

const utf8Bytes = (point: number): string =>
  point > 0x10ffff ? '' : Buffer.from(String.fromCodePoint(point), 'utf8').toString('latin1');

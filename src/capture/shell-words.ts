/** A word of a command line after the shell has removed its quotes, as bytes in Latin-1. */
export interface Word {
  readonly text: string;
  /** Whether a part of it comes from a variable or another command, which nothing here can know. */
  readonly isOpen: boolean;
}

export type Pipeline = readonly (readonly Word[])[];

/** A quote that is not closed reaches to the end of the text, so that reading takes time in proportion to its length. */
const piece = new RegExp(
  [
    // Input that is redirected is not in the command; its words say nothing that curl sends.
    String.raw`(?<blank>[ \t<]+|\\\r?\n|(?<=[ \t])#[^\n]*|\d?>[>&]?[ \t]*[^\s|;&]*)`,
    String.raw`(?<end>[|;&\r\n]+)`,
    String.raw`\$'(?<ansi>(?:[^'\\]+|\\[\s\S])*)'?`,
    String.raw`'(?<single>[^']*)'?`,
    String.raw`\$?"(?<double>(?:[^"\\]+|\\[\s\S])*)"?`,
    String.raw`(?<expansion>\$(?:\{[^}]*\}?|\([^)]*\)?|[A-Za-z_]\w*|[\d@*#?!])|${'`'}[^${'`'}]*${'`'}?)`,
    String.raw`\\(?<escaped>[\s\S])`,
    String.raw`(?<plain>[^\s'"\\$${'`'}|;&<>]+|\$)`,
  ].join('|'),
  'g',
);

/**
 * The pipelines of a text as bash and zsh read them: quotes, `$'…'`, escapes and continued lines. Variables and
 * substitutions stay as they are written and make their word open.
 */
export function parsePipelines(text: string): readonly Pipeline[] {
  const pipelines: Word[][][] = [[[]]];
  let word: Word | undefined;
  const endWord = (): void => {
    if (word !== undefined) pipelines.at(-1)?.at(-1)?.push(word);
    word = undefined;
  };
  for (const { groups = {} } of text.matchAll(piece)) {
    const { blank, end, ansi, single, double, expansion, escaped, plain } = groups;
    if (blank !== undefined || end !== undefined) endWord();
    if (end === '|') pipelines.at(-1)?.push([]);
    else if (end !== undefined) pipelines.push([[]]);
    if (blank !== undefined || end !== undefined) continue;
    const unescaped = double?.replace(/\\\r?\n|\\([$`"\\])/g, '$1');
    const isOpen = /\$[\w{(]|`/.test(double?.replace(/\\[\s\S]/g, '') ?? '') || expansion !== undefined;
    const decoded = ansi === undefined ? undefined : decodeAnsiC(ansi);
    word = {
      text: (word?.text ?? '') + (decoded ?? single ?? unescaped ?? expansion ?? escaped ?? plain ?? ''),
      isOpen: (word?.isOpen ?? false) || isOpen,
    };
  }
  endWord();
  return pipelines;
}

const controls: Readonly<Record<string, string>> = {
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

const escape = /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|([\s\S]))/g;

/** The bytes that `$'…'` stands for, in Latin-1 (bash, "ANSI-C Quoting"). `\u` gives the bytes of UTF-8. */
const decodeAnsiC = (text: string): string =>
  text.replace(escape, (all: string, ...[hex, short, long, octal]: (string | undefined)[]) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 0xff);
    const point = short ?? long;
    if (point !== undefined) return utf8Bytes(Number.parseInt(point, 16));
    const character = all.slice(1);
    return controls[character] ?? (/["'?\\]/.test(character) ? character : all);
  });

const utf8Bytes = (point: number): string =>
  point > 0x10ffff ? '' : Buffer.from(String.fromCodePoint(point), 'utf8').toString('latin1');

/** The text that commands print which only print and decode: `printf %s … | base64 -d`. Undefined for any others. */
export const outputOf = (commands: Pipeline): string | undefined =>
  commands.reduce<string | undefined>((input, words) => {
    const start = words.findIndex(({ text }) => ['echo', 'printf', 'base64'].includes(text));
    const [name, ...args] = words.slice(start).map(({ text }) => text);
    if (start < 0 || words.some(({ isOpen }) => isOpen)) return undefined;
    // Shells differ in their echo of a backslash, and of options.
    if (name === 'echo') return /^-|\\/.test(args.join(' ')) ? undefined : `${args.join(' ')}\n`;
    if (name === 'printf') return args.length === 2 && args[0] === '%s' ? args[1] : undefined;
    return input !== undefined && /^(-d|-D|--decode)$/.test(args.join(' '))
      ? Buffer.from(input, 'base64').toString('latin1')
      : undefined;
  }, undefined);

/**
 * A word of a command line without its quotes, as bytes in Latin-1. With `hasExpansion`, a part of it comes from a
 * variable or another command, which nothing here can know.
 */
export interface Word {
  readonly text: string;
  readonly hasExpansion: boolean;
}

/** The commands of a pipeline, each as its words. */
export type Pipeline = readonly (readonly Word[])[];

/**
 * A part of a command line. `blank` is also a comment, or a redirection: curl does not send its words. `joined`
 * continues a line. A quote that is not closed reaches to the end of the text, so that reading takes linear time.
 */
const piece = new RegExp(
  [
    String.raw`(?<blank>[ \t]+|(?<![^\s|;&])#[^\n]*|<(?![<(])[ \t]*(?:'[^']*'?|"(?:[^"\\]+|\\[\s\S])*"?|\\[\s\S]|[^\s|;&<>'"\\])*|<+|\d?>[>&]?[ \t]*[^\s|;&]*)`,
    String.raw`(?<joined>\\\r?\n)`,
    String.raw`(?<pipe>(?<!\|)\|(?!\|)&?\s*)`,
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
 * Reads the pipelines of a text as bash and zsh do: quotes, `$'…'`, escapes and continued lines. Variables and
 * substitutions stay as they are written.
 */
export function parsePipelines(text: string): readonly Pipeline[] {
  const pipelines: Word[][][] = [[[]]];
  let word: Word | undefined;
  const endWord = (): void => {
    if (word !== undefined) pipelines.at(-1)?.at(-1)?.push(word);
    word = undefined;
  };
  for (const { groups = {} } of text.matchAll(piece)) {
    if (groups['joined'] !== undefined) continue;
    const { blank, pipe, end, ansi, single, double, expansion, escaped, plain } = groups;
    if ((blank ?? pipe ?? end) !== undefined) {
      endWord();
      if (pipe !== undefined) pipelines.at(-1)?.push([]);
      else if (end !== undefined) pipelines.push([[]]);
      continue;
    }
    const unescaped = double?.replace(/\\\r?\n|\\([$`"\\])/g, '$1');
    const hasExpansion = /\$[\w{(]|`/.test(double?.replace(/\\[\s\S]/g, '') ?? '') || expansion !== undefined;
    const decoded = ansi === undefined ? undefined : decodeAnsiC(ansi);
    word = {
      text: (word?.text ?? '') + (decoded ?? single ?? unescaped ?? expansion ?? escaped ?? plain ?? ''),
      hasExpansion: (word?.hasExpansion ?? false) || hasExpansion,
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

/** Decodes `$'…'` to its bytes in Latin-1 (bash, "ANSI-C Quoting"). `\u` gives the bytes of UTF-8. */
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

/** Returns the text that a pipeline of `echo`, `printf %s` and `base64 -d` prints; undefined for other commands. */
export function outputOf(commands: Pipeline): string | undefined {
  let output: string | undefined;
  for (const words of commands) output = outputOfCommand(words, output);
  return output;
}

function outputOfCommand(words: readonly Word[], input: string | undefined): string | undefined {
  const start = words.findIndex(({ text }) => ['echo', 'printf', 'base64'].includes(text));
  if (start < 0 || words.some(({ hasExpansion }) => hasExpansion)) return undefined;
  const [name, ...args] = words.slice(start).map(({ text }) => text);
  const typed = args.join(' ');
  // Shells differ in their echo of a backslash, and of options.
  if (name === 'echo') return /^-|\\/.test(typed) ? undefined : `${typed}\n`;
  if (name === 'printf') return args.length === 2 && args[0] === '%s' ? args[1] : undefined;
  const isDecoding = /^(-d|-D|--decode)$/.test(typed);
  return isDecoding && input !== undefined ? Buffer.from(input, 'base64').toString('latin1') : undefined;
}

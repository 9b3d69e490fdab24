/** One word of a command line after the shell has removed its quotes, as bytes in Latin-1. */
export interface Word {
  readonly text: string;
  /** Whether a part of it comes from a variable or another command, which nothing here can know. */
  readonly isOpen: boolean;
}

/** One command of a pipeline. */
export interface Command {
  readonly words: readonly Word[];
  /** What `<<<` or `<<` gives it to read. */
  readonly input: Word | undefined;
  /** The name of the file that `<` gives it to read. */
  readonly inputFile: Word | undefined;
}

/**
 * The commands of the first pipeline in a text, as bash and zsh read them: quotes, `$'…'`, escapes, continued lines, here
 * strings and here documents. Variables and substitutions stay as they are written and make their word open.
 */
export function parsePipeline(text: string): readonly Command[] {
  return new ShellReader(text).pipeline();
}

/** Of a pipeline that prints, decodes and sends. */
const mostCommands = 20;

class ShellReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  pipeline(): readonly Command[] {
    const commands: Command[] = [];
    for (;;) {
      commands.push(this.#command());
      if (commands.length >= mostCommands) return commands;
      if (this.#take(/\|(?!\|)&?\s*/y) === undefined) return commands;
    }
  }

  #command(): Command {
    const words: Word[] = [];
    let input: Word | undefined;
    let inputFile: Word | undefined;
    let delimiter: Word | undefined;
    for (;;) {
      this.#take(/(?:[ \t]|\\\r?\n|\r(?=\n))+/y);
      if (this.#take(/#[^\n]*/y) !== undefined) continue;
      if (this.#take(/<<<[ \t]*/y) !== undefined) {
        const word = this.#word();
        input = { ...word, text: `${word.text}\n` };
      } else if (this.#take(/<<-?[ \t]*/y) !== undefined) delimiter = this.#word();
      else if (this.#take(/<(?!\()[ \t]*/y) !== undefined) inputFile = this.#word();
      else if (this.#take(/\d?>(?:&\d|>?[ \t]*)/y) !== undefined) {
        // A copy of stderr names no file.
        if (!/&\d$/.test(this.#text.slice(this.#at - 2, this.#at))) this.#word();
      } else if (this.#take(/<\([^)]*\)?/y) !== undefined) words.push({ text: '', isOpen: true });
      else if (this.#at >= this.#text.length || /[\n;|&]/.test(this.#text[this.#at] ?? '')) break;
      else words.push(this.#wordOrCharacter());
    }
    return { words, input: delimiter === undefined ? input : this.#hereDocument(delimiter), inputFile };
  }

  #hereDocument({ text: delimiter }: Word): Word {
    const start = this.#text.indexOf('\n', this.#at) + 1;
    const lines = start === 0 ? [] : this.#text.slice(start).split('\n');
    const end = lines.findIndex((line) => line.replace(/\r$/, '').replace(/^\t+/, '') === delimiter);
    const kept = end < 0 ? lines : lines.slice(0, end);
    return { text: kept.map((line) => `${line}\n`).join(''), isOpen: false };
  }

  /** A character that begins no word is read as a word, so that reading always advances. */
  #wordOrCharacter(): Word {
    const start = this.#at;
    const word = this.#word();
    return this.#at > start ? word : { text: this.#next(), isOpen: false };
  }

  #word(): Word {
    let text = '';
    let isOpen = false;
    for (;;) {
      const plain = this.#take(/[^\s'"\\$`|;&<>]+/y);
      if (plain !== undefined) text += plain;
      else if (this.#take(/\\\r?\n/y) !== undefined) continue;
      else if (this.#take(/\\/y) !== undefined) text += this.#next();
      else if (this.#take(/'/y) !== undefined) text += this.#until("'");
      else if (this.#take(/\$'/y) !== undefined)
        text += decodeAnsiC(this.#take(/(?:[^'\\]|\\[\s\S])*/y) ?? '') + this.#closed();
      else if (this.#take(/\$?"/y) !== undefined) {
        const quoted = this.#doubleQuoted();
        text += quoted.text;
        isOpen ||= quoted.isOpen;
      } else {
        const expansion = this.#expansion();
        if (expansion === undefined) return { text, isOpen };
        text += expansion;
        isOpen ||= expansion.length > 1;
      }
    }
  }

  #doubleQuoted(): Word {
    let text = '';
    let isOpen = false;
    while (this.#at < this.#text.length && this.#take(/"/y) === undefined) {
      const plain = this.#take(/[^"\\$`]+/y);
      if (plain !== undefined) text += plain;
      else if (this.#take(/\\\r?\n/y) !== undefined) continue;
      else if (this.#take(/\\(?=[$`"\\])/y) !== undefined) text += this.#next();
      else {
        const expansion = this.#expansion();
        text += expansion ?? this.#next();
        isOpen ||= (expansion ?? '').length > 1;
      }
    }
    return { text, isOpen };
  }

  /** A variable or substitution as it is written, up to the end where it is not closed; a `$` that begins none is itself. */
  #expansion(): string | undefined {
    return this.#take(/\$(?:\{[^}]*\}?|\([^)]*\)?|[A-Za-z_]\w*|[\d@*#?!$-])|`[^`]*`?|\$/y);
  }

  #until(end: string): string {
    const stop = this.#text.indexOf(end, this.#at);
    const text = this.#text.slice(this.#at, stop < 0 ? undefined : stop);
    this.#at = stop < 0 ? this.#text.length : stop + end.length;
    return text;
  }

  #closed(): string {
    this.#take(/'/y);
    return '';
  }

  #next(): string {
    const character = this.#text[this.#at] ?? '';
    this.#at += 1;
    return character;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }
}

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
const decodeAnsiC = (text: string): string =>
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

/**
 * What the last command of a pipeline reads from stdin, where the commands before it only print and decode a text:
 * `printf %s … | base64 -d | curl …`. Open where it comes from anything else, undefined where nothing is said.
 */
export function pipeInput(pipeline: readonly Command[]): Word | undefined {
  let input: Word | undefined;
  for (const [index, command] of pipeline.entries()) {
    const own = command.input ?? input;
    if (index === pipeline.length - 1) return command.inputFile === undefined ? own : unknown;
    input = command.inputFile === undefined ? outputOf(command, own) : unknown;
  }
  return input;
}

const unknown: Word = { text: '', isOpen: true };

function outputOf({ words }: Command, input: Word | undefined): Word {
  const [name = '', ...args] = words.map(({ text }) => text);
  const isOpen = words.some((word) => word.isOpen) || input?.isOpen === true;
  if (isOpen) return unknown;
  if (name === 'echo') return echo(args);
  if (name === 'printf' && args.length === 2 && /^%s(\\n)?$/.test(args[0] ?? '')) {
    return { text: (args[1] ?? '') + (args[0] === '%s' ? '' : '\n'), isOpen };
  }
  if (name === 'printf' && args.length === 1 && !/[%\\]/.test(args[0] ?? '')) {
    return { text: args[0] ?? '', isOpen };
  }
  const isDecoder = name === 'base64' && args.length === 1 && /^(-d|-D|--decode)$/.test(args[0] ?? '');
  if (!isDecoder || input === undefined) return unknown;
  return { text: Buffer.from(input.text, 'base64').toString('latin1'), isOpen };
}

function echo(args: readonly string[]): Word {
  const isBare = args[0] === '-n';
  const text = args.slice(isBare ? 1 : 0).join(' ');
  // Shells differ in what their echo makes of a backslash.
  return text.includes('\\') ? unknown : { text: isBare ? text : `${text}\n`, isOpen: false };
}

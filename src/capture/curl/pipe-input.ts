import type { Command, Word } from './shell-words.ts';

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

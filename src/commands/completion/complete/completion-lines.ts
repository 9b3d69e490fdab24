import type { Host } from '../../../context.ts';
import type { Completion } from './candidate.ts';
import { completeWord } from './complete-word.ts';
import { localValues } from './local-values.ts';
import type { ListedCommand } from './typed-line.ts';

/**
 * What the scripts of `leads completion` read: a line that says `files`, `open` or nothing, then one candidate a line, a
 * tab, and a few words about it. `asked` is the word at the cursor behind a dot, since PowerShell drops an empty
 * argument, and the words before it. Empty in every failure: the person presses TAB, and no message has a place there.
 */
export async function completionLines(
  [dotted = '.', ...words]: readonly string[],
  commands: readonly ListedCommand[],
  host: Pick<Host, 'env' | 'platform'>,
): Promise<string> {
  try {
    const found = await completeWord(words.map(unquoted), dotted.slice(1), commands, localValues(host));
    return linesOf(found);
  } catch {
    return '';
  }
}

/** A word may come as it was typed, in quotes. */
const unquoted = (word: string): string => /^(['"])(.*)\1$/s.exec(word)?.[2] ?? word;

/** A candidate with anything but visible ASCII would not be one line, or not one word. */
const isWord = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);

const linesOf = ({ candidates, files, isOpen }: Completion): string =>
  [
    files === true ? 'files' : isOpen === true ? 'open' : '',
    ...candidates.filter(({ value }) => isWord(value)).map(({ value, help = '' }) => `${value}\t${help}`),
    '',
  ].join('\n');

import { switchLetters, valuedLetters, valuedOptions } from './curl-options.ts';
import type { Word } from './shell-words.ts';

/** One option of a curl command under its long name; `url` also for a word that is no option. */
export interface CurlArgument {
  readonly option: string;
  /** Undefined for an option without a value. */
  readonly value: Word | undefined;
}

/** The options of a curl command as curl reads them: `-sXPOST`, `-H 'a: b'` and `--header 'a: b'` alike. */
export function curlArguments(words: readonly Word[]): readonly CurlArgument[] {
  const found: CurlArgument[] = [];
  let isLiteral = false;
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i];
    if (word === undefined) break;
    const { text } = word;
    if (isLiteral || !text.startsWith('-') || text === '-') found.push({ option: 'url', value: word });
    else if (text === '--') isLiteral = true;
    else if (text === '--next' || text === '-:') break;
    else if (text.startsWith('--')) {
      const option = text.slice(2).replace(/^expand-/, '');
      if (valuedOptions.has(option)) i += 1;
      found.push({ option, value: valuedOptions.has(option) ? words[i] : undefined });
    } else i += takeLetters(word, words[i + 1], found);
  }
  return found;
}

/** Reads options of one letter; how many of the words behind them they took. */
function takeLetters({ text, isOpen }: Word, next: Word | undefined, found: CurlArgument[]): number {
  for (let at = 1; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    const option = valuedLetters.get(letter);
    if (option === undefined) {
      const name = switchLetters.get(letter);
      if (name !== undefined) found.push({ option: name, value: undefined });
      continue;
    }
    const rest = text.slice(at + 1);
    found.push({ option, value: rest === '' ? next : { text: rest, isOpen } });
    return rest === '' ? 1 : 0;
  }
  return 0;
}

import { UsageError } from '../../errors.ts';
import { didYouMean } from '../help/suggest.ts';
import { type Flag, isSwitch, longName } from './flag.ts';
import { globalFlags, immediateFlags } from './global-flags.ts';

const known: readonly (readonly [key: string, flag: Flag])[] = Object.entries({
  ...globalFlags,
  ...immediateFlags,
});
const longNames = known.map(([key, flag]) => longName(key, flag));
const valued = known.filter(([, flag]) => !isSwitch(flag)).map(([key, flag]) => longName(key, flag));
const letters = known.flatMap(([, { short }]) => short ?? []).join('');
const shortFlags = new RegExp(`^-[${letters}]+$`);

/**
 * The first word that is neither a global flag nor a global flag's value, and the other words: global flags stand
 * before or after it. Throws a `UsageError` for any other flag before it.
 */
export function takeCommand(words: readonly string[]): { name: string | undefined; rest: readonly string[] } {
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i] ?? '';
    if (!word.startsWith('-')) return { name: word, rest: words.toSpliced(i, 1) };
    const [long = ''] = word.split('=');
    if (!longNames.includes(long) && !shortFlags.test(word)) {
      throw new UsageError(`unknown option '${word}'`, {
        hint:
          didYouMean(long, longNames) ?? "the flags of a command stand after its name; see 'leads --help'",
      });
    }
    if (valued.includes(word)) i += 1;
  }
  return { name: undefined, rest: words };
}

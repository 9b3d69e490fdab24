import { type Flag, isSwitch } from '../flags/flag.ts';

/** Meaning, choices, and in parentheses whether it repeats and what holds without it. */
export function flagText(flag: Flag): string {
  const help = flag.help ?? '';
  if (isSwitch(flag)) return help;
  const choices = listed(flag.choicesShown === false ? [] : (flag.type.choices ?? []));
  const fallback = flag.default ?? flag.otherwise;
  const notes = [
    flag.repeatable === true ? 'repeatable' : undefined,
    flag.bare === undefined ? undefined : `alone: ${flag.bare}`,
    fallback === undefined ? undefined : `default: ${fallback}`,
  ].filter((note) => note !== undefined);
  const text = [help, choices].filter((part) => part !== '').join(': ');
  return notes.length === 0 ? text : `${text} (${notes.join('; ')})`;
}

const listed = (choices: readonly string[]): string =>
  choices.length < 2 ? choices.join('') : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1) ?? ''}`;

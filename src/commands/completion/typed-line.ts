import type { CommandSpec, ListedCommand } from '../flags/command-spec.ts';
import {
  type Flag,
  flagName,
  globalFlags,
  immediateFlags,
  isSwitch,
  longName,
  type ValueFlag,
} from '../flags/flag.ts';

/** What the words in front of the cursor say. */
export interface TypedLine {
  /** Undefined before a command is named. */
  readonly spec: CommandSpec | undefined;
  /** `leads help …` */
  readonly isHelp: boolean;
  readonly args: readonly string[];
  /** Values of the flags that were typed, by long name; an empty text for none. */
  readonly given: ReadonlyMap<string, string>;
  /** The flag whose value comes next. */
  readonly awaiting: ValueFlag<unknown> | undefined;
  /** `--` was typed: what follows are arguments. */
  readonly flagsEnded: boolean;
}

/** By each way to type them: `--page-size`, `--no-gzip`, `-o`. */
export function flagsByName(spec: CommandSpec | undefined): ReadonlyMap<string, Flag> {
  const flags: Readonly<Record<string, Flag>> = { ...spec?.flags, ...globalFlags, ...immediateFlags };
  return new Map(
    Object.entries(flags).flatMap(([key, flag]) => {
      const names = [longName(key, flag)];
      if (flag.short !== undefined) names.push(`-${flag.short}`);
      if (isSwitch(flag) && flag.eitherWay === true) names.push(`--no-${flagName(key)}`);
      return names.map((name): [string, Flag] => [name, flag]);
    }),
  );
}

/** Undefined where the words name no command that there is. */
export async function readLine(
  words: readonly string[],
  commands: readonly ListedCommand[],
): Promise<TypedLine | undefined> {
  const args: string[] = [];
  const given = new Map<string, string>();
  let spec: CommandSpec | undefined;
  let isHelp = false;
  let flagsEnded = false;
  let awaiting: readonly [name: string, flag: ValueFlag<unknown>] | undefined;
  for (const word of words) {
    const isFlag = /^-./.test(word) && !flagsEnded;
    if (awaiting !== undefined && !(isFlag && awaiting[1].bare !== undefined)) {
      given.set(awaiting[0], word);
      awaiting = undefined;
    } else if (word === '--') {
      flagsEnded = true;
    } else if (isFlag) {
      const [name = '', value] = word.split(/=(.*)/s, 2);
      given.set(name, value ?? '');
      awaiting = value === undefined ? awaitingValue(name, flagsByName(spec)) : undefined;
    } else if (spec === undefined && !isHelp && word === 'help') {
      isHelp = true;
    } else if (spec === undefined) {
      spec = (await commands.find(({ name }) => name === word)?.load())?.default;
      if (spec === undefined) return undefined;
    } else if (spec.subcommands.length > 0) {
      spec = spec.subcommands.find(({ name }) => name === word);
      if (spec === undefined) return undefined;
    } else {
      args.push(word);
    }
  }
  return { spec, isHelp, args, given, awaiting: awaiting?.[1], flagsEnded };
}

/** Of `--limit`, `-n` and `-qn`; not of `-n5`, which holds its value. */
function awaitingValue(
  typed: string,
  flags: ReadonlyMap<string, Flag>,
): readonly [name: string, flag: ValueFlag<unknown>] | undefined {
  const names = typed.startsWith('--')
    ? [typed]
    : typed
        .slice(1)
        .split('')
        .map((letter) => `-${letter}`);
  for (const [i, name] of names.entries()) {
    const flag = flags.get(name);
    if (flag === undefined) return undefined;
    if (isSwitch(flag)) continue;
    return i === names.length - 1 && flag.joined !== true ? [name, flag] : undefined;
  }
  return undefined;
}

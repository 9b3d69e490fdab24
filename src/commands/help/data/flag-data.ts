import { settingKeys } from '../../../config/setting-keys.ts';
import {
  type Argument,
  argumentTerm,
  type Flag,
  flagName,
  type Flags,
  flagTerm,
  isSwitch,
  longName,
} from '../../flags/flag.ts';

/** A flag as `help --json` describes it; its fields are public. What does not apply is null, false or empty. */
export interface FlagData {
  /** As it is typed, such as `--page-size`. */
  readonly name: string;
  readonly short: string | null;
  /** Other names that are understood: `--no-gzip` beside `--gzip`, and older ones. */
  readonly aliases: readonly string[];
  /** As help shows it, such as `-o, --output <file>`. */
  readonly term: string;
  readonly help: string;
  /** Heading in help. */
  readonly group: string;
  /** The help topic that explains it. */
  readonly topic: string | null;
  /** Placeholder of its value; null for a flag without one. */
  readonly value: string | null;
  /** What a value must be, in words. */
  readonly type: string | null;
  readonly choices: readonly string[];
  /** The value without the flag. */
  readonly default: string | null;
  /** In words, what holds without the flag. */
  readonly otherwise: string | null;
  /** The value of the flag alone. */
  readonly alone: string | null;
  readonly repeatable: boolean;
  /** The environment variable and the setting that hold without the flag, in this order. */
  readonly environment: string | null;
  readonly setting: string | null;
  /** `--json` means `--format json`. */
  readonly shortFor: string | null;
}

export interface ArgumentData {
  readonly name: string;
  /** As help shows it: `<id>`, `[file]`. */
  readonly term: string;
  readonly help: string;
  readonly type: string;
  readonly choices: readonly string[];
  readonly required: boolean;
  readonly repeatable: boolean;
}

/** Flags as data, in the order of their declaration. */
export const describeFlags = (flags: Flags): FlagData[] =>
  Object.entries(flags).map(([key, flag]) => describeFlag(key, flag));

function describeFlag(key: string, flag: Flag): FlagData {
  const { short, help = '', group = 'Options', topic = null } = flag;
  const name = isSwitch(flag) && flag.eitherWay === true ? `--${flagName(key)}` : longName(key, flag);
  const texts = { name, short: short === undefined ? null : `-${short}`, term: flagTerm(key, flag) };
  if (isSwitch(flag)) {
    return {
      ...texts,
      aliases: flag.eitherWay === true ? [`--no-${flagName(key)}`] : [],
      help,
      group,
      topic,
      ...{ value: null, type: null, choices: [], default: null, otherwise: null, alone: null },
      ...{ repeatable: false, environment: null, setting: null },
      shortFor: flag.shortFor === undefined ? null : `--${flag.shortFor[0]} ${flag.shortFor[1]}`,
    };
  }
  const variable = settingKeys.find((setting) => setting.name === flag.setting)?.variable;
  return {
    ...texts,
    aliases: flag.olderName === undefined ? [] : [`--${flagName(flag.olderName)}`],
    help,
    group,
    topic,
    value: flag.value,
    type: flag.type.expected,
    choices: flag.type.choices ?? [],
    default: flag.default ?? null,
    otherwise: flag.otherwise ?? null,
    alone: flag.bare ?? null,
    repeatable: flag.repeatable === true,
    environment: flag.variable ?? variable ?? null,
    setting: flag.setting ?? null,
    shortFor: null,
  };
}

export const describeArgument = (name: string, argument: Argument): ArgumentData => ({
  name,
  term: argumentTerm(name, argument),
  help: argument.help,
  type: argument.type.expected,
  choices: argument.type.choices ?? [],
  required: argument.optional !== true,
  repeatable: argument.repeatable === true,
});

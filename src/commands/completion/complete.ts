import type { Host } from '../../host.ts';
import type { ListedCommand } from '../flags/command-spec.ts';
import { type Argument, type Flag, isSwitch } from '../flags/flag.ts';
import { flagText } from '../help/command-help.ts';
import { topicNames } from '../help/root-help.ts';
import { localValues } from './local-values.ts';
import { flagsByName, readLine, type TypedLine } from './typed-line.ts';
import {
  type Candidate,
  type Completion,
  type LocalValues,
  matching,
  nothing,
  valuesOf,
} from './value-candidates.ts';

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

/** What completes `current`, the word at the cursor, behind `words`. */
async function completeWord(
  words: readonly string[],
  current: string,
  commands: readonly ListedCommand[],
  local: LocalValues,
): Promise<Completion> {
  const line = await readLine(words, commands);
  if (line === undefined) return nothing;
  const { awaiting, flagsEnded } = line;
  if (awaiting === undefined) return withoutAwaited(line, current, commands, local);
  if (awaiting.bare === undefined || flagsEnded) return valuesOf(awaiting, current, line, local);
  // The flag may stand alone, so that what comes may also be something else.
  const value = await valuesOf(awaiting, current, line, local);
  const other = await withoutAwaited(line, current, commands, local);
  return { ...value, candidates: [...value.candidates, ...other.candidates] };
}

async function withoutAwaited(
  line: TypedLine,
  current: string,
  commands: readonly ListedCommand[],
  local: LocalValues,
): Promise<Completion> {
  if (current.startsWith('-') && !line.flagsEnded) {
    const equals = current.indexOf('=');
    return equals === -1
      ? { candidates: matching(flagCandidates(line), current) }
      : joinedValue(current.slice(0, equals + 1), current, line, local);
  }
  const names = commandCandidates(line, commands);
  if (names !== undefined) return { candidates: matching(names, current) };
  const argument = nextArgument(line);
  if (argument !== undefined) return valuesOf(argument, current, line, local);
  return { candidates: current === '' && !line.flagsEnded ? flagCandidates(line) : [] };
}

/** `--format=cs` */
async function joinedValue(
  prefix: string,
  current: string,
  line: TypedLine,
  local: LocalValues,
): Promise<Completion> {
  const flag = flagsByName(line.spec).get(prefix.slice(0, -1));
  if (flag === undefined || isSwitch(flag)) return nothing;
  const typed = current.slice(prefix.length);
  const { candidates, ...rest } = await valuesOf(flag, typed, line, local);
  return { candidates: matching(candidates, current, prefix), ...rest };
}

/** The long names of flags that may be typed now; one that was typed is offered again where it is repeatable. */
function flagCandidates({ spec, isHelp, given }: TypedLine): Candidate[] {
  if (isHelp) return [{ value: '--json', help: 'as data' }];
  return [...flagsByName(spec)]
    .filter(([name, flag]) => name.startsWith('--') && (!given.has(name) || isRepeatable(flag)))
    .map(([value, flag]) => ({ value, help: flagText(flag) }));
}

const isRepeatable = (flag: Flag): boolean => !isSwitch(flag) && flag.repeatable === true;

/** Undefined where no command's name comes next. */
function commandCandidates(
  { spec, isHelp }: TypedLine,
  commands: readonly ListedCommand[],
): Candidate[] | undefined {
  if (spec === undefined) {
    const named = commands.map(({ name, summary }) => ({ value: name, help: summary }));
    const topics = topicNames.map((value) => ({ value, help: 'help topic' }));
    return [...named, ...(isHelp ? topics : [{ value: 'help', help: 'of a command or topic' }])];
  }
  if (spec.subcommands.length === 0) return isHelp ? [] : undefined;
  return spec.subcommands.map(({ name, summary }) => ({ value: name, help: summary }));
}

function nextArgument({ spec, args }: TypedLine): Argument | undefined {
  const declared = Object.values(spec?.arguments ?? {});
  const last = declared.at(-1);
  return declared[args.length] ?? (last?.repeatable === true ? last : undefined);
}

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Host } from '../../host.ts';
import { utf8 } from '../../json/bytes.ts';
import { jsonIn } from '../../json/exact.ts';
import type { ListedCommand, CommandSpec } from '../flags/command-spec.ts';
import {
  type Argument,
  type Flag,
  isSwitch,
  type ValueFlag,
  flagName,
  globalFlags,
  immediateFlags,
  longName,
} from '../flags/flag.ts';
import { flagText } from '../help/command-help.ts';
import { topicNames } from '../help/root-help.ts';
import { settingKeys } from '../../config/setting-keys.ts';
import { schemeNames } from '../../webhook/presets.ts';
import { homeDirectory } from '../../home-directory.ts';
import { configFile, findPaths, type Paths, ownInbox } from '../../config/directories.ts';

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

/** What is stored on this machine. Nothing in it is offered unless it is a plain word. */
interface LocalValues {
  readonly profiles: () => readonly string[];
  /** The newest first. */
  readonly leadIds: (line: TypedLine) => Promise<readonly Candidate[]>;
  readonly categories: (line: TypedLine) => Promise<readonly string[]>;
  /** Dotted paths of the fields of leads. */
  readonly fields: (line: TypedLine) => Promise<readonly string[]>;
}

const named = (values: readonly string[]): Candidate[] => values.map((value) => ({ value }));

/** The values of a flag or argument that begin with what is typed. */
async function valuesOf(
  of: ValueFlag<unknown> | Argument,
  typed: string,
  line: TypedLine,
  local: LocalValues,
): Promise<Completion> {
  const { choices } = of.type;
  const { known } = of;
  if (choices !== undefined) return { candidates: matching(named(choices), typed) };
  if (known === undefined) {
    return 'value' in of && of.value === 'file' ? { candidates: [], files: true } : nothing;
  }
  return sources[known](typed, line, local);
}

type Source = (typed: string, line: TypedLine, local: LocalValues) => Completion | Promise<Completion>;

const among = (values: readonly string[], typed: string): Completion => ({
  candidates: matching(named(values), typed),
});

const sources: Readonly<Record<NonNullable<Argument['known']>, Source>> = {
  files: () => ({ candidates: [], files: true }),
  profiles: (typed, _, local) => among(local.profiles(), typed),
  settings: (typed) => ({
    candidates: matching(
      settingKeys.map(({ name, help }) => ({ value: name, help })),
      typed,
    ),
  }),
  'setting-values': (typed, { args }) => among(settingValues(args[0]), typed),
  'lead-ids': async (typed, line, local) => ({ candidates: matching(await local.leadIds(line), typed) }),
  categories: async (typed, line, local) => among(await local.categories(line), typed),
  fields: async (typed, line, local) => among(await local.fields(line), typed),
  'field-list': async (typed, line, local) => fieldList(typed, await local.fields(line)),
  conditions: condition,
};

function settingValues(name: string | undefined): readonly string[] {
  if (name === 'webhook.scheme') return schemeNames;
  return settingKeys.find((setting) => setting.name === name)?.type.choices ?? [];
}

/** `id,contact.em`: the last of them is completed. */
function fieldList(typed: string, fields: readonly string[]): Completion {
  if (!/^[\w.,@+-]*$/.test(typed)) return nothing;
  const before = typed.slice(0, typed.lastIndexOf(',') + 1);
  const further = fields.filter((field) => !before.split(',').includes(field));
  return { candidates: matching(named(further), typed, before) };
}

/** `contact.em` as `contact.email=`, and `category=so` as `category=solar`. */
async function condition(typed: string, line: TypedLine, local: LocalValues): Promise<Completion> {
  const category = 'category=';
  if (typed.startsWith(category)) {
    return { candidates: matching(named(await local.categories(line)), typed, category) };
  }
  const fields = await local.fields(line);
  return { candidates: matching(named(fields.map((field) => `${field}=`)), typed), isOpen: true };
}

/** One word that completes the typed one. */
interface Candidate {
  readonly value: string;
  /** A few words of ours for shells that show them; never anything that came from outside. */
  readonly help?: string;
}

/** What a shell offers. */
interface Completion {
  readonly candidates: readonly Candidate[];
  /** Names of files, which the shell knows itself. */
  readonly files?: boolean;
  /** The word goes on behind a candidate: no space comes after it. */
  readonly isOpen?: boolean;
}

const nothing: Completion = { candidates: [] };

/** Those that begin with what is typed, each behind `prefix`. */
const matching = (candidates: readonly Candidate[], typed: string, prefix = ''): readonly Candidate[] =>
  candidates
    .map(({ value, ...help }) => ({ value: prefix + value, ...help }))
    .filter(({ value }) => value.startsWith(typed));

/** What came from outside is offered only as such a word: no shell takes anything in it for more than a letter. */
const plainWord = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,199}$/;

const isPlain = (value: string): boolean => plainWord.test(value);

/** How many ids are offered, and how many bodies are read for categories and fields. */
const most = 50;

/** How many fields are offered beside the usual ones: a lead may have thousands. */
const mostFields = 200;

/** Fields of the specification. */
const usualFields = [
  'id',
  'category',
  'contact.name',
  'contact.email',
  'contact.phone',
  'metadata.source',
  'createdAt',
  'status',
];

interface StoredConfig {
  readonly profile?: string;
  readonly profiles?: Readonly<Record<string, unknown>>;
}

/** Reads the configuration file and the inbox of the line, and changes nothing: no file is made, no mode tightened. */
function localValues({ env, platform }: Pick<Host, 'env' | 'platform'>): LocalValues {
  const paths = findPaths(env, platform);
  const inbox = (line: TypedLine): string | undefined => inboxOf(line, env, paths);
  const bodies = async (line: TypedLine): Promise<readonly unknown[]> => {
    const path = inbox(line);
    return path === undefined ? [] : (await readableBodies(path)).map((body) => jsonIn(utf8(body)));
  };
  return {
    profiles: () => Object.keys(storedConfig(paths).profiles ?? {}).filter(isPlain),
    async leadIds(line) {
      const path = inbox(line);
      if (path === undefined) return [];
      const { recentLeads } = await import('../../inbox/sqlite/recent-leads.ts');
      const found = await recentLeads(path, most);
      return found
        .filter(({ leadId }) => isPlain(leadId))
        .map(({ leadId, receivedAt }) => ({
          value: leadId,
          help: `received ${new Date(receivedAt).toISOString().slice(0, 16).replace('T', ' ')}`,
        }));
    },
    async categories(line) {
      const found = (await bodies(line)).map((lead) => (lead as { category?: unknown } | null)?.category);
      return [...new Set(found.filter((category) => typeof category === 'string'))].filter(isPlain).sort();
    },
    async fields(line) {
      const found = (await bodies(line)).flatMap((lead) => fieldPathsOf(lead));
      const further = [...new Set(found.filter(isPlain))].slice(0, mostFields).sort();
      return [...new Set([...usualFields, ...further])];
    },
  };
}

/** The file of `--inbox`, or the profile's own; undefined for one that is no file. */
function inboxOf({ given }: TypedLine, env: Host['env'], paths: Paths): string | undefined {
  const named = given.get('--inbox') || env['LEADS_INBOX'] || undefined;
  if (named === ':memory:' || /^(@|[a-z][a-z0-9+.-]+:\/\/)/i.test(named ?? '')) return undefined;
  const chosen = given.get('--profile') || env['LEADS_PROFILE'];
  if (named !== undefined) return resolve(named.replace(/^~(?=\/)/, homeDirectory(env) ?? '~'));
  return ownInbox(chosen || storedConfig(paths).profile || 'default', paths);
}

/** Without an inbox, the fields of the specification are still offered. */
async function readableBodies(path: string): Promise<readonly Uint8Array[]> {
  try {
    const { recentBodies } = await import('../../inbox/sqlite/recent-leads.ts');
    return await recentBodies(path, most);
  } catch {
    return [];
  }
}

function storedConfig({ configDir }: Paths): StoredConfig {
  try {
    return JSON.parse(readFileSync(configFile(configDir), 'utf8')) as StoredConfig;
  } catch {
    // A file that is missing or damaged offers nothing; any other command says what is wrong with it.
    return {};
  }
}

/** Levels below the lead itself. */
const deepest = 3;

/** Dotted paths of the values in a lead, those of objects aside; names that hold a dot have none. */
function fieldPathsOf(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    if (name.includes('.')) return [];
    const isObject = typeof member === 'object' && member !== null && !Array.isArray(member);
    if (!isObject) return [name];
    return depth < deepest ? fieldPathsOf(member, depth + 1).map((path) => `${name}.${path}`) : [];
  });
}

/** What the words in front of the cursor say. */
interface TypedLine {
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
function flagsByName(spec: CommandSpec | undefined): ReadonlyMap<string, Flag> {
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
async function readLine(
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

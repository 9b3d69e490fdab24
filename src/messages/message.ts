import type { Problem } from '../errors.ts';

/** How a front names what the user sets: the command line by commands and flags, the library by options. */
export interface Words {
  /** How to give a setting a value: `leads config set api.items data`, or `dialect.items: 'data'`; `…` without a value. */
  set(setting: string, value?: string): string;
  /** Where a setting's value is seen: `'leads config get base-url'`, or `baseUrl`. */
  get(setting: string): string;
  /** An option of the run: `--accept-incomplete`, or `acceptIncomplete`. */
  option(name: string, value?: string): string;
  /** How to give a private key. */
  readonly privateKey: string;
  /** Where the password of a database may be given, beside its URL. */
  readonly databasePassword: string;
  /** A setting in a sentence: `api.path`, or `dialect.path`. */
  name(setting: string): string;
  /** A variable of the environment that node reads. */
  environment(name: string): string;
  /** How to give another API key, or another base URL; `login` is the command for it. */
  otherKey(login: string): string;
  otherBaseUrl(url: string, login: string): string;
  /** A name or a command inside a sentence: in quotes on the command line. */
  quoted(text: string): string;
  /** What finds out how a service pages, and keeps it where this front reads it; undefined: nothing does. */
  readonly learning: string | undefined;
  /** A command that mends it: `'leads inbox migrate'`. */
  command(line: string): string;
}

export interface Message {
  /** The option of the run that it is about, whose name a front puts before the sentence. */
  readonly option?: string | undefined;
  /** What was asked and what was found, without a full stop. */
  readonly message: string;
  /** What the user can do about it, in one sentence. */
  readonly hint?: ((words: Words) => string | undefined) | undefined;
  /** What stands between both where they are one text, as in a warning; else a full stop. */
  readonly join?: string | undefined;
}

/** What reads a file of a newer release. */
export const updateLeads =
  "update leads: 'npm install leads-cli@latest', with --global where it was installed so";

/** Its sentence in the words of a front. */
export const sentenceIn = ({ option, message }: Message, words: Words): string =>
  option === undefined ? message : `${words.option(option)}: ${message}`;

/** The message of each kind of problem that a room finds; a sentence alone is the whole message. */
export type Messages<P extends Problem> = {
  readonly [K in P['kind']]: (found: OfKind<P, K>) => Message | string;
};

/** Those of the problems that may be of that kind: several kinds may have the same facts. */
type OfKind<P extends Problem, K> = P extends unknown ? (K extends P['kind'] ? P : never) : never;

/** The messages of one room, or of several. */
export type Catalogue = Readonly<Record<string, (found: never) => Message | string>>;

/** Undefined for a kind that the catalogue does not have. */
export function messageIn(catalogue: Catalogue, problem: Problem): Message | undefined {
  const make = catalogue[problem.kind] as ((found: Problem) => Message | string) | undefined;
  const made = make?.(problem);
  return typeof made === 'string' ? { message: made } : made;
}

/** The command that stores a key in a profile, for hints: `leads login --profile big`. */
export function loginCommand(profile: string | undefined, baseUrl?: string): string {
  const words = ['leads login'];
  if (baseUrl !== undefined) words.push(`--base-url ${baseUrl}`);
  if (profile !== undefined && profile !== 'default') words.push(`--profile ${shellWord(profile)}`);
  return words.join(' ');
}

const shellWord = (text: string): string =>
  /^[\w.@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

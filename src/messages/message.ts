import type { Problem } from '../errors.ts';
import type { Front, Hint } from '../front.ts';

export { updateLeads } from '../front.ts';
/** The name that the messages of rooms have for a front. */
export type Words = Front;

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
  if (problem.message !== undefined)
    return { ...problem, message: problem.message, hint: asFunction(problem.hint) };
  const make = catalogue[problem.kind] as ((found: Problem) => Message | string) | undefined;
  const made = make?.(problem);
  return typeof made === 'string' ? { message: made } : made;
}

const asFunction = (hint: Hint | undefined): Message['hint'] =>
  typeof hint === 'string' ? () => hint : hint;

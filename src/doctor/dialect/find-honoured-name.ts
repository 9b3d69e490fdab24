import type { DialectAsker, Query } from './limited-requests.ts';
import type { SeenPage } from './seen-page.ts';

/** What an answer shows of the parameters that were sent. */
export type Shown<L> =
  /** The parameters that carried this value did something. */
  | { readonly kind: 'value'; readonly value: L }
  /** None of them changed anything. */
  | { readonly kind: 'nothing' }
  /** The answer fits none of the values. */
  | { readonly kind: 'unclear' }
  | { readonly kind: 'unasked' };

export type Narrowed<L> =
  { readonly kind: 'found'; readonly name: string; readonly value: L } | Exclude<Shown<L>, { kind: 'value' }>;

interface NameSearch<L> {
  readonly asker: DialectAsker;
  readonly names: readonly string[];
  readonly values: readonly L[];
  readonly textOf: (value: L) => string;
  /** What is sent beside them. */
  readonly base: Query;
  readonly read: (seen: SeenPage) => Shown<L>;
}

/** Finds the one of many names that a service understands, by what its values do to an answer. */
export const findHonouredName = <L>(search: NameSearch<L>): Promise<Narrowed<L>> => {
  const { asker, names, values, textOf, base, read } = search;
  const ask = async (sent: ReadonlyMap<string, L>): Promise<Shown<L>> => {
    const query = [...sent].map(([name, value]) => [name, textOf(value)] as const);
    const seen = await asker.ask({ ...base, ...Object.fromEntries(query) });
    if (seen.kind === 'unasked') return seen;
    return seen.kind === 'rejected' ? unclear : read(seen);
  };
  return narrowNames(names, values, ask, asker);
};

/** As many names are sent first where there are fewer values: the usual names come first. */
const firstBatch = 6;

/** Names with brackets and operators, which some services take for fields, or fail at. */
const isPlain = (name: string): boolean => /^[A-Za-z_]+$/.test(name) && !/_(gte|lte|gt|lt)$/.test(name);

/** Of those, so many are tried one by one. */
const mostAlone = 5;

/**
 * Finds the one of many names that a service understands, by sending many of them at once, each with a value of its own
 * where there are enough: the answer shows by its leads which value counted. For services that ignore what they do not
 * know. `values` must not be empty. `known` remembers that names with brackets spoil an answer, from one search to the next.
 */
export async function narrowNames<L>(
  names: readonly string[],
  values: readonly L[],
  ask: AskWith<L>,
  known: { areOddNamesUnclear: boolean },
): Promise<Narrowed<L>> {
  const plain = names.filter(isPlain);
  const all = known.areOddNamesUnclear ? unclear : await narrowUsual(names, values, ask);
  if (all.kind !== 'unclear' || (plain.length === names.length && !known.areOddNamesUnclear)) return all;
  const found = plain.length === 0 ? all : await narrowUsual(plain, values, ask);
  if (found.kind === 'found' || found.kind === 'unasked') return found;
  if (found.kind === 'nothing') known.areOddNamesUnclear = true;
  for (const name of names.filter((one) => !isPlain(one)).slice(0, mostAlone)) {
    const alone = await narrowBatch([name], values.slice(Math.floor(values.length / 2)), ask);
    if (alone.kind === 'found' || alone.kind === 'unasked') return alone;
  }
  return found;
}

const unclear = { kind: 'unclear' } as const;

type AskWith<L> = (sent: ReadonlyMap<string, L>) => Promise<Shown<L>>;

async function narrowUsual<L>(
  names: readonly string[],
  values: readonly L[],
  ask: AskWith<L>,
): Promise<Narrowed<L>> {
  const usual = Math.max(values.length, firstBatch);
  const isSplit = values.length > 1 && names.length > usual;
  const found = await narrowBatch(isSplit ? names.slice(0, usual) : names, values, ask);
  return isSplit && found.kind === 'nothing' ? narrowBatch(names.slice(usual), values, ask) : found;
}

async function narrowBatch<L>(
  names: readonly string[],
  values: readonly L[],
  ask: AskWith<L>,
): Promise<Narrowed<L>> {
  let left = names;
  // With a single value, the answer only shows whether any of the names counted.
  let isAnyKnown = values.length > 1;
  for (;;) {
    const sent = assign(left, values, isAnyKnown);
    const shown = await ask(sent);
    if (shown.kind === 'unclear' || shown.kind === 'unasked') return shown;
    if (shown.kind === 'nothing') {
      const others = left.filter((name) => !sent.has(name));
      if (others.length === 0) return shown;
      left = others;
      continue;
    }
    left = left.filter((name) => sent.get(name) === shown.value);
    const [name] = left;
    if (name === undefined) return { kind: 'unclear' };
    if (left.length === 1) return { kind: 'found', name, value: shown.value };
    isAnyKnown = true;
  }
}

function assign<L>(names: readonly string[], values: readonly L[], isAnyKnown: boolean): Map<string, L> {
  const sent = new Map<string, L>();
  const many = values.length === 1 && isAnyKnown ? Math.ceil(names.length / 2) : names.length;
  names.slice(0, many).forEach((name, i) => {
    const value = values[i % values.length];
    if (value !== undefined) sent.set(name, value);
  });
  return sent;
}

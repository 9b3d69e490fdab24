import type { LineField, StatementLine } from './statement-format.ts';

/** How two statements agree, counted in leads. */
export interface Comparison {
  both: number;
  onlyHere: number;
  onlyThere: number;
  /** In the period here, and at its border there. */
  otherPeriodThere: number;
  otherPeriodHere: number;
  /** On both sides, with another field that both say. */
  otherFields: number;
}

/** A difference, by the digest of its lead. */
export interface Difference {
  readonly difference:
    'only here' | 'only there' | 'other period there' | 'other period here' | 'other category';
  readonly digest: string;
}

/** Compares lines that come in the order of their digests. `fields`: those that both sides say. */
export async function* compareLines(
  ours: AsyncIterable<StatementLine>,
  theirs: AsyncIterable<StatementLine>,
  fields: readonly LineField[],
  counts: Comparison,
): AsyncGenerator<Difference> {
  const [here, there] = [ours[Symbol.asyncIterator](), theirs[Symbol.asyncIterator]()];
  let [a, b] = [await here.next(), await there.next()];
  while (a.done !== true || b.done !== true) {
    const [mine, other] = [a.done === true ? undefined : a.value, b.done === true ? undefined : b.value];
    const isMine = other === undefined || (mine !== undefined && mine.digest <= other.digest);
    const isOther = mine === undefined || (other !== undefined && other.digest <= mine.digest);
    const found = differenceOf(isMine ? mine : undefined, isOther ? other : undefined, fields);
    if (found !== undefined) {
      counts[found] += 1;
      const difference = names[found];
      const digest = (isMine ? mine : other)?.digest ?? '';
      if (difference !== undefined) yield { difference, digest };
    }
    if (isMine) a = await here.next();
    if (isOther) b = await there.next();
  }
}

const names: Readonly<Record<keyof Comparison, Difference['difference'] | undefined>> = {
  both: undefined,
  onlyHere: 'only here',
  onlyThere: 'only there',
  otherPeriodThere: 'other period there',
  otherPeriodHere: 'other period here',
  otherFields: 'other category',
};

/** Undefined for a lead that is in neither period. */
function differenceOf(
  mine: StatementLine | undefined,
  other: StatementLine | undefined,
  fields: readonly LineField[],
): keyof Comparison | undefined {
  const isMine = mine !== undefined && mine.border === undefined;
  const isOther = other !== undefined && other.border === undefined;
  if (isMine && isOther)
    return fields.every((field) => mine[field] === other[field]) ? 'both' : 'otherFields';
  if (isMine) return other === undefined ? 'onlyHere' : 'otherPeriodThere';
  if (isOther) return mine === undefined ? 'onlyThere' : 'otherPeriodHere';
  return undefined;
}

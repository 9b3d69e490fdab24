import type { LineField, StatementLine } from './statement-format.ts';

/** How the leads of two statements agree, in words. */
export const agreements = {
  both: 'on both sides',
  onlyHere: 'only here',
  onlyThere: 'only there',
  /** In the period here, and at its border there. */
  otherPeriodThere: 'other period there',
  otherPeriodHere: 'other period here',
  /** On both sides, with another field that both say. */
  otherFields: 'other category',
} as const;

type Agreement = keyof typeof agreements;

/** Leads of each kind. */
export type Comparison = Record<Agreement, number>;

/** A difference, by the digest of its lead. */
export interface Difference {
  readonly difference: (typeof agreements)[Exclude<Agreement, 'both'>];
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
      const digest = (isMine ? mine : other)?.digest ?? '';
      if (found !== 'both') yield { difference: agreements[found], digest };
    }
    if (isMine) a = await here.next();
    if (isOther) b = await there.next();
  }
}

/** Undefined for a lead that is in neither period. */
function differenceOf(
  mine: StatementLine | undefined,
  other: StatementLine | undefined,
  fields: readonly LineField[],
): Agreement | undefined {
  const isMine = mine !== undefined && mine.border === undefined;
  const isOther = other !== undefined && other.border === undefined;
  if (isMine && isOther)
    return fields.every((field) => mine[field] === other[field]) ? 'both' : 'otherFields';
  if (isMine) return other === undefined ? 'onlyHere' : 'otherPeriodThere';
  if (isOther) return mine === undefined ? 'onlyThere' : 'otherPeriodHere';
  return undefined;
}

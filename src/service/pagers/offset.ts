import { NumberedPager } from './numbered.ts';
import { type Covered, OverlapPager, type Place, type Ruler } from './overlap.ts';
import { canOverlap } from './page.ts';
import { type PageAnswer, type Pager, type Step, turn } from './pager.ts';
import type { Position } from './position.ts';

/** On shorter pages an overlap would take most of the page. */
const fewestOverlapping = 2;

/** A parameter that takes a number of records to skip. */
export interface OffsetParam {
  readonly param: string;
  /** The offset of the first page. */
  readonly base: number;
  readonly ignored?: ((first: PageAnswer) => Step) | undefined;
}

const positionOf = (
  { param, base }: OffsetParam,
  begin: number,
): Extract<Position, { readonly style: 'offset' }> => ({
  style: 'offset',
  param,
  offset: base + begin,
  base,
});

/** Offsets that are multiples of the first page's length: some services refuse others, or round them down. */
const alignedOffsets = (of: OffsetParam, length: number): NumberedPager =>
  new NumberedPager({
    position: (nth) => ({ ...positionOf(of, nth * length), length }),
    ignored: of.ignored,
  });

/** Offsets that overlap by one record. */
function overlappingOffsets(of: OffsetParam): OverlapPager {
  return new OverlapPager(new OffsetRuler(of), () => overlappingOffsets(of));
}

export const offsetsBehind = (of: OffsetParam, first: PageAnswer, overlaps: boolean): Pager =>
  overlaps && canOverlap(first, fewestOverlapping)
    ? overlappingOffsets(of)
    : alignedOffsets(of, first.facts.count);

class OffsetRuler implements Ruler {
  readonly #of: OffsetParam;

  constructor(of: OffsetParam) {
    this.#of = of;
  }

  windowAfter({ places }: Covered, overlap: number): Place {
    const begin = Math.max(0, places - overlap);
    return { position: positionOf(this.#of, begin), limit: undefined, begin };
  }

  otherwise(first: PageAnswer): Step {
    const pager = alignedOffsets(this.#of, first.facts.count);
    return turn(pager, pager.goOn(first, 1));
  }
}

/** An offset of a walk that is resumed; `length` is that of its pages. */
export function offsetsFrom(
  position: Extract<Position, { readonly style: 'offset' }>,
  of: Omit<OffsetParam, 'param'>,
): Pager {
  const param = { ...of, param: position.param };
  const length = position.length ?? 1;
  if (position.window === undefined)
    return alignedOffsets(param, length).resumeAt((position.offset - of.base) / length, position.size);
  return overlappingOffsets(param).resumeAt(position, position.size);
}

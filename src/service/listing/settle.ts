import type { Messages } from '../../output/messages.ts';
import { complete, type Completion, unproven } from './completion.ts';
import type { Continuity } from './continuity.ts';
import { isUsualCap, type Step } from './decide-step.ts';
import type { Passes } from './passes.ts';
import type { Totals } from './totals.ts';

export interface PassEnd {
  readonly totals: Totals;
  /** The service was asked for some of its leads only: its total may count the others, too. */
  readonly isFiltered: boolean;
  /** Positions were plain numbers, which mean another place when the list moves. */
  readonly isNumbered: boolean;
  readonly passes: Passes;
  readonly continuity: Continuity;
}

type Settled =
  | { readonly kind: 'end'; readonly completion: Completion }
  /** Something moved that the pages did not show: the list is read again, with every border checked. */
  | { readonly kind: 'again' }
  /** Leads that were not read may have moved to the front. */
  | { readonly kind: 'front' };

/** Compares the end of a pass with the totals, and with what moved meanwhile. */
export function settlePass(completion: Completion, pass: PassEnd): Settled {
  const { totals, continuity, isNumbered, passes } = pass;
  const ended: Settled = { kind: 'end', completion };
  if (continuity.emptied !== undefined) return filteredBy(continuity.emptied);
  if (continuity.isExhausted) return keptMoving;
  if (completion.kind === 'unproven') return ended;
  if (passes.isFrontRead) {
    if (!passes.needsAnotherPass(continuity.steps.gaps)) return ended;
    return passes.isOver ? keptMoving : { kind: 'again' };
  }
  if (passes.current === 'front') return { kind: 'front' };
  const isPassedOver = continuity.unchecked > 0 || (passes.isFirst && continuity.hasMovedBack);
  if (isNumbered && isPassedOver && !totals.isSettled) return { kind: 'again' };
  // Where the front ends that leads may have moved to is not known.
  if (isNumbered && continuity.front.isUnknown && continuity.hasShifted) return { kind: 'again' };
  const contrary = contraryTotal(pass);
  if (contrary !== undefined) {
    return isNumbered && passes.isFirst ? { kind: 'again' } : { kind: 'end', completion: contrary };
  }
  if (isNumbered && !totals.isUnchanged) return { kind: 'front' };
  return ended;
}

const keptMoving: Settled = {
  kind: 'end',
  completion: unproven(
    'leads kept moving between the pages while the list was read',
    'run it again when fewer leads change, or with a larger --page-size',
  ),
};

/** Feathers pages by `$skip`, answers with `skip`, and looks for leads with a field `skip` where that is sent. */
function filteredBy(param: string): Settled {
  const names =
    param === 'skip'
      ? "leads config set api.params.offset '$skip', and leads config set api.params.limit '$limit'"
      : "'leads config set api.params.page …' or 'api.params.offset …'";
  return {
    kind: 'end',
    completion: unproven(
      `the service lists no lead where '${param}' is sent, not even the first ones`,
      `it may take that for a filter; name the parameter that it pages by: ${names}`,
    ),
  };
}

/** The service counts more leads than it gave. */
export function contraryTotal({
  totals,
  isFiltered,
}: Pick<PassEnd, 'totals' | 'isFiltered'>): Completion | undefined {
  const { met, expected, last } = totals;
  if (totals.vanished && met !== 0)
    return unproven('the service counted leads at first, and none in the end');
  if (met === undefined || expected === undefined || last === undefined) return undefined;
  if (isFiltered || met + totals.repeated >= expected) return undefined;
  return unproven(`the service counts ${expected} leads and gave ${met}`);
}

interface NoPosition {
  readonly count: number;
  readonly size: number | undefined;
  /** The page size that the answer shows. */
  readonly shownSize: number | undefined;
  readonly honoursLimit: boolean;
  /** Leads that arrived took the place of others on the page. */
  readonly isCut: boolean;
  /** It rejects an offset, as it does behind the end of a list that has become shorter. */
  readonly isRejected: boolean;
  /** The service said so. */
  readonly hasMore: boolean;
}

/** The service honours no position: its one page is everything, or the rest is out of reach. */
export function settleNoPosition(
  { count, size, shownSize, honoursLimit, isCut, isRejected, hasMore }: NoPosition,
  totals: Totals,
  isFiltered: boolean,
  messages: Messages,
): Step {
  const { met = count, last: total } = totals;
  const end = (completion: Completion): Step => ({ kind: 'end', completion });
  if (hasMore) return end(unproven('the service says that there is more, and no parameter leads there'));
  const mayBeCut = isCut || count === shownSize || (honoursLimit && (count === size || isUsualCap(count)));
  if (total !== undefined && Math.max(met, count) < total) {
    if (!isFiltered || mayBeCut || isRejected) {
      return end(
        unproven(`the service has ${total} leads, and its answers show no way past the first ${met}`),
      );
    }
    messages.note(
      'silent',
      `the service counts ${total} leads and gave ${met}: its total may ignore the filter`,
    );
    return end(complete('not-paged'));
  }
  if (mayBeCut) {
    return end(
      unproven(
        `${count} leads came, which may be as many as the service gives at once, and no position leads further`,
        affirm,
      ),
    );
  }
  messages.note(
    'silent',
    `the service does not page: its ${count === 1 ? 'one lead counts' : `${count} leads count`} as everything`,
  );
  return end(complete('not-paged'));
}

const affirm =
  "say how the service pages ('leads config set api.pagination …', 'api.params.…'), or that it does not: 'leads config set api.pagination none'";

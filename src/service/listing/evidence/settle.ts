import type { Messages } from '../../../output/messages.ts';
import type { Continuity } from '../continuity.ts';
import type { Step } from '../page-outcome.ts';
import type { Passes } from '../passes.ts';
import { complete, type Completion, unproven } from './completion.ts';
import { isUsualCap } from './full-page.ts';
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
  | { readonly kind: 'read-again' }
  /** Leads that were not read may have moved to the front. */
  | { readonly kind: 'read-front' };

/** Holds the end of a pass against the totals, and against what moved meanwhile. */
export function settlePass(completion: Completion, pass: PassEnd): Settled {
  const { totals, continuity, isNumbered, passes } = pass;
  const ended: Settled = { kind: 'end', completion };
  if (continuity.isExhausted) {
    return restless;
  }
  if (completion.kind === 'unproven') return ended;
  if (passes.isFrontRead) {
    if (!passes.isRestless(continuity.gaps)) return ended;
    return passes.isOver ? restless : { kind: 'read-again' };
  }
  if (passes.current === 'front') return { kind: 'read-front' };
  if (isNumbered && continuity.unchecked > 0 && !totals.isSettled) return { kind: 'read-again' };
  const contrary = contraryTotal(pass);
  if (contrary !== undefined) {
    return isNumbered && passes.isFirst ? { kind: 'read-again' } : { kind: 'end', completion: contrary };
  }
  if (isNumbered && !totals.isUnchanged) return { kind: 'read-front' };
  return ended;
}

const restless: Settled = {
  kind: 'end',
  completion: unproven('the list did not stop moving while it was read', 'run it again at a quieter time'),
};

function contraryTotal({ totals, isFiltered }: PassEnd): Completion | undefined {
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
  readonly honoursLimit: boolean;
  /** The service said so. */
  readonly hasMore: boolean;
}

/** The service honours no position: its one page is everything, or the rest is out of reach. */
export function settleNoPosition(
  { count, size, honoursLimit, hasMore }: NoPosition,
  totals: Totals,
  isFiltered: boolean,
  messages: Messages,
): Step {
  const { met = count, last: total } = totals;
  const end = (completion: Completion): Step => ({ kind: 'end', completion });
  if (hasMore) return end(unproven('the service says that there is more, and no parameter leads there'));
  const isCut = honoursLimit && (count === size || isUsualCap(count));
  if (total !== undefined && Math.max(met, count) < total) {
    if (!isFiltered || isCut) {
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
  if (isCut) {
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

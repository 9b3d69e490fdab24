import { lonePageEnd } from '../../service/listing/walk-state.ts';
import type { DialectFindings } from './dialect-findings.ts';
import type { PositionFinding } from './find-position.ts';
import type { DialectAsker, Walked } from './limited-requests.ts';
import { keysOf } from './seen-page.ts';

/** What was found of the pages, unless a walk in that dialect misses leads of the list as it was found. */
export function compareWalks(
  position: PositionFinding,
  front: readonly string[],
  { pages, completion, failure }: Walked,
): PositionFinding {
  if (position.kind !== 'found') return position;
  const brought = new Set(keysOf({ leads: pages.flat() }));
  // What lies behind the pages that were walked over was not asked for.
  const asked = completion === undefined ? front.slice(0, brought.size) : front;
  const missing = asked.filter((key) => !brought.has(key)).length;
  if (failure === undefined && missing === 0) return position;
  const why = failure ?? `${missing} of ${asked.length} leads did not come`;
  return { kind: 'undecided', why: `${position.style}: walked as learnt, ${why}`, advice: 'repeat' };
}

type Filters = Pick<DialectFindings, 'status' | 'category' | 'since' | 'until'>;

/** Whether the one page of a list is all of it: the walk proves that as for an export, by the filters that were found. */
export async function proveLonePage(
  asker: DialectAsker,
  position: PositionFinding,
  walked: Walked,
  { status, category, since, until }: Filters,
): Promise<PositionFinding> {
  if (position.kind !== 'undecided' || walked.pages.length !== 1) return position;
  const filters = { status, category, since, until };
  for (const filter of Object.values(filters)) {
    if (filter.kind === 'wrong' && filter.bringsOthers === true)
      return { ...position, why: `the list is cut: ${filter.evidence}`, advice: 'name-parameter' };
  }
  const names = Object.entries(filters).flatMap(([name, filter]) =>
    filter.kind === 'honoured' ? [[name, filter.name] as const] : [],
  );
  let end = lonePageEnd(walked.completion);
  if (end?.kind !== 'proven' && names.length > 0) {
    const again = await asker.walk(asker.with({ params: Object.fromEntries(names) }), undefined);
    end = lonePageEnd(again.completion);
  }
  if (end?.kind === 'proven') {
    return { kind: 'alone', upTo: end.upTo, evidence: `proven for up to ${end.upTo} leads` };
  }
  const count = walked.pages.flat().length;
  return mayBeCut(walked) && count > fewest ? { ...position, uncutUpTo: count - 1 } : position;
}

/** Fewer leads than that need no proof. */
const fewest = 5;

/** Whether the walk took one page for the end of the list, without a proof. */
export const mayBeCut = ({ completion }: Walked): boolean =>
  completion?.kind === 'complete'
    ? completion.evidence === 'lone-page'
    : completion?.reason.kind === 'page-may-be-cut' || completion?.reason.kind === 'page-is-cut';

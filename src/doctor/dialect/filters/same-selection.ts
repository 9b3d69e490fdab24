import { keysOf, type SeenLead } from '../seen-page.ts';

/**
 * Whether an answer holds exactly those leads that a filter selects of a list, as far as the list is known: none that it
 * does not select, and none of the known ones missing.
 */
export function isSelection(
  seen: readonly SeenLead[],
  known: readonly SeenLead[],
  selects: (lead: SeenLead) => boolean,
): boolean {
  if (seen.length === 0 || !seen.every(selects)) return false;
  const selected = known.filter(selects);
  const keys = new Set(keysOf({ leads: seen }));
  const knownKeys = new Set(keysOf({ leads: known }));
  const others = seen.filter(({ key }) => !knownKeys.has(key)).length;
  // Leads that arrived meanwhile, or that lie behind the known ones, may have taken the place of some on a full page.
  const isFull = seen.length >= known.length;
  const expected = isFull ? selected.slice(0, seen.length - others) : selected;
  return selected.length > 0 && expected.every(({ key }) => keys.has(key));
}

/** Whether an answer is the known list again, but for leads that arrived meanwhile. */
export function isUnfiltered(seen: readonly SeenLead[], known: readonly SeenLead[]): boolean {
  const keys = new Set(keysOf({ leads: known }));
  const shared = seen.filter(({ key }) => keys.has(key)).length;
  return shared > 0 && shared >= known.length - 2;
}

/** Whether an answer with room for more holds none of the known leads that a filter selects. */
export function isLoss(
  seen: readonly SeenLead[],
  known: readonly SeenLead[],
  selects: (lead: SeenLead) => boolean,
): boolean {
  const keys = new Set(keysOf({ leads: seen }));
  const selected = known.filter(selects);
  return seen.length < known.length && selected.length > 0 && !selected.some(({ key }) => keys.has(key));
}

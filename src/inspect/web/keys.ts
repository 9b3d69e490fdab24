import type { PageModel } from './state/page-model.ts';

/** The style sheet has the same width. */
const sideBySide = matchMedia('(min-width: 900px)');

export const shortcuts = [
  { keys: ['j', 'k'], effect: 'Next and previous delivery' },
  { keys: ['Enter'], effect: 'Open the delivery' },
  { keys: ['/'], effect: 'Filter by words' },
  { keys: ['?'], effect: 'All keys' },
  { keys: ['r'], effect: 'Replay the delivery' },
  { keys: ['c'], effect: 'Copy it as a curl command' },
  { keys: ['Esc'], effect: 'Close what is open, clear the words' },
] as const;

/** An action returns false where the browser shall handle the key. */
const actions: Readonly<Record<string, (model: PageModel) => unknown>> = {
  j: (model) => step(model, 1),
  k: (model) => step(model, -1),
  '/': () => document.getElementById('search')?.focus(),
  '?': () => document.getElementById('keys')?.showPopover(),
  r: ({ opened }) => opened !== null && document.getElementById('replay')?.showPopover(),
  c: (model) => model.opened !== null && model.copy(model.opened.curl, 'as a curl command'),
  Escape: closeOrClear,
};

const listActions: typeof actions = {
  ArrowDown: (model) => step(model, 1),
  ArrowUp: (model) => step(model, -1),
  Home: (model) => step(model, -Infinity),
  End: (model) => step(model, Infinity),
};

export function onPageKey(event: KeyboardEvent, model: PageModel): void {
  const { key, target } = event;
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!(target instanceof Element) || target.closest('input, select') !== null) return;
  if (document.querySelector(':popover-open') !== null) return;
  const isInList = target === document.body || target.closest('#list') !== null;
  // Enter opens the row with the focus; on the list itself it opens the first row.
  const isOnList = key === 'Enter' && target.id === 'list';
  const action = isOnList ? actions['j'] : (actions[key] ?? (isInList ? listActions[key] : undefined));
  if (action !== undefined && action(model) !== false) event.preventDefault();
}

function step(model: PageModel, by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('#list a, #list .pager button')];
  const { seq } = model.address;
  const focused = rows.findIndex((row) => row === document.activeElement);
  const current = focused === -1 ? rows.findIndex(({ id }) => id === `row-${seq}`) : focused;
  const row = rows[Math.max(0, Math.min(current + by, rows.length - 1))];
  row?.focus();
  const next = Number(row?.id.replace('row-', ''));
  if (next > 0 && (sideBySide.matches || seq !== null)) model.replaceOpen(next);
}

function closeOrClear(model: PageModel): boolean {
  const { seq, filter } = model.address;
  if (seq !== null) model.close();
  else if (filter.text !== '') model.filterBy({ text: '' });
  else return false;
  return true;
}

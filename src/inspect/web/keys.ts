import type { PageModel } from './state/page-model.ts';

/** Whether list and delivery are beside each other, by the same width as in `narrow.css`. */
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

/** An action returns false to leave the key to the browser. */
const actions: Readonly<Record<string, (model: PageModel) => unknown>> = {
  j: (model) => step(model, 1),
  k: (model) => step(model, -1),
  '/': () => document.getElementById('search')?.focus(),
  '?': () => document.getElementById('keys')?.showPopover(),
  r: ({ loadedDelivery }) => loadedDelivery !== null && document.getElementById('replay')?.showPopover(),
  c: (model) => model.loadedDelivery !== null && model.copy(model.loadedDelivery.curl, 'as a curl command'),
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
  // Enter opens the row with the focus; on the list itself it leads to the open row, or else opens the first one.
  const isEnterOnList = key === 'Enter' && target.id === 'list';
  const action = isEnterOnList ? focusOpenRow : (actions[key] ?? (isInList ? listActions[key] : undefined));
  if (action !== undefined && action(model) !== false) event.preventDefault();
}

const focusOpenRow = (model: PageModel): void => step(model, 0);

/** Moves the focus by so many rows from the row with the focus, else from the open one, and opens the delivery there. */
function step(model: PageModel, by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('#list a, #list .pager button')];
  const { seq } = model.address;
  const focused = rows.findIndex((row) => row === document.activeElement);
  const current = focused === -1 ? rows.findIndex(({ id }) => id === `row-${seq}`) : focused;
  const row = rows[Math.max(0, Math.min(current + by, rows.length - 1))];
  row?.focus();
  const rowSeq = Number(row?.id.replace('row-', ''));
  if (rowSeq > 0 && (sideBySide.matches || seq !== null)) model.replaceOpen(rowSeq);
}

function closeOrClear(model: PageModel): boolean {
  const { seq, filter } = model.address;
  if (seq !== null) model.close();
  else if (filter.text !== '') model.filterBy({ text: '' });
  else return false;
  return true;
}

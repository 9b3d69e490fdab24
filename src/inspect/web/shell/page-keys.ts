import { useEffect } from 'preact/hooks';
import {
  closePane,
  copyCurl,
  openCompare,
  openDelivery,
  openReplay,
  step,
  toOldest,
} from '../state/delivery-actions.ts';
import { type PageModel, useModel } from '../state/page-model.ts';
import { route } from '../state/route.ts';

/** Each gives false where the key is left to the browser. */
const actions: Record<string, (model: PageModel) => unknown> = {
  j: (model) => step(model, 1),
  k: (model) => step(model, -1),
  G: toOldest,
  // At once: the next letter is already meant for it.
  '/': () => document.getElementById('search')?.focus(),
  '?': (model) => (model.dialog.value = { name: 'help' }),
  r: openReplay,
  d: openCompare,
  c: copyCurl,
  ' ': (model) => model.togglePause(),
  Enter: (model) => model.selected.value !== null && (openDelivery(model, model.selected.value), true),
  Escape: (model) => {
    if (route.value.view !== 'list') closePane(model);
    else if (model.search.state.value !== null) model.find('');
    else return false;
    return true;
  },
};

const rowsInView = (): number => {
  const list = document.getElementById('list');
  const row = list?.querySelector('.row');
  return Math.max(1, Math.floor((list?.clientHeight ?? 0) / (row?.clientHeight ?? 1)) - 1);
};

/** Keys of the list, and of the page where nothing has the focus: elsewhere they scroll. */
const listActions: Record<string, (model: PageModel) => unknown> = {
  ArrowDown: (model) => step(model, 1),
  ArrowUp: (model) => step(model, -1),
  PageDown: (model) => step(model, rowsInView()),
  PageUp: (model) => step(model, -rowsInView()),
  Home: (model) => step(model, -Infinity),
  End: toOldest,
};

/** The page's keys, except while something is typed, a dialog is open or another key is held. */
export function usePageKeys(): void {
  const model = useModel();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (model.dialog.value !== null || !(event.target instanceof Element)) return;
      if (event.target.closest('input, textarea, select, [contenteditable]') !== null) return;
      // The key that presses what has the focus.
      if (/^( |Enter)$/.test(event.key) && event.target.closest('button, a, summary') !== null) return;
      // It scrolls what is read.
      if (event.key === ' ' && event.target.closest('#pane') !== null) return;
      const action =
        actions[event.key] ??
        (event.target === document.body || event.target.closest('#list') !== null
          ? listActions[event.key]
          : undefined);
      if (action !== undefined && action(model) !== false) event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [model]);
}

/** A button that was removed or disabled loses the focus to nothing: the part of the page that it stood in gets it. */
export function useKeptFocus(): void {
  useEffect(() => {
    let last: Element | null = null;
    let part = 'list';
    const onFocus = ({ target }: FocusEvent): void => {
      if (!(target instanceof Element)) return;
      last = target;
      part = target.closest('#pane') === null ? 'list' : 'pane';
    };
    const onRemoved = new MutationObserver(() => {
      if (last === null || document.activeElement !== document.body) return;
      if (last.isConnected && !last.matches(':disabled')) return;
      document.getElementById(part)?.focus({ preventScroll: true });
    });
    document.addEventListener('focusin', onFocus);
    onRemoved.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    return () => {
      document.removeEventListener('focusin', onFocus);
      onRemoved.disconnect();
    };
  }, []);
}

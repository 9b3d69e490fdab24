import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { ChartPane } from '../chart/chart-pane.tsx';
import { Dialogs } from '../dialogs/open-dialog.tsx';
import { ListPane } from '../list/list-pane.tsx';
import { DeliveryPane } from '../panes/delivery-pane.tsx';
import { useModel, useValue, type PageModel } from '../state/page-model.ts';
import { listFilter, type Route, route } from '../state/route.ts';
import { Header } from './header.tsx';
import { ShortcutList, shortcuts } from './shortcuts.tsx';
import { closePane, copyCurl, openDelivery, openReplay, step } from '../state/delivery-actions.ts';

/** The list, and beside it, or above it where there is no room, what the address names. */
export function Page(): VNode {
  const current = useValue(route);
  usePageKeys();
  useKeptFocus();
  useEffect(() => {
    document.title = `${current.view === 'list' ? 'Inbox' : labels[current.view]} · leads inspect`;
  }, [current]);
  return (
    <div class={`page ${current.view === 'list' ? 'shows-list' : 'shows-pane'}`}>
      <Header />
      <StartedAnew />
      <main>
        <ListPane />
        <section class="pane" id="pane" tabIndex={-1} aria-label={labels[current.view]}>
          {pane(current)}
        </section>
      </main>
      <Dialogs />
      <Messages />
    </div>
  );
}

const labels: Record<Route['view'], string> = {
  list: 'No delivery',
  delivery: 'Delivery',
  chart: 'Chart',
};

function pane(current: Route): VNode {
  if (current.view === 'delivery') return <DeliveryPane seq={current.seq} />;
  return current.view === 'chart' ? <ChartPane /> : <NothingOpen />;
}

/** The program came back with another key: what was read stays. */
function StartedAnew(): VNode | null {
  const { state } = useValue(useModel().live.connection);
  if (state !== 'ended') return null;
  return (
    <p class="started-anew" role="alert">
      <strong>Open the new URL</strong> to go on: leads was started again, and printed it in its terminal.
      What was read stays here.
    </p>
  );
}

/** The live region, and the message that stays for a moment. */
function Messages(): VNode {
  const { announcer } = useModel();
  const spoken = useValue(announcer.spoken);
  const message = useValue(announcer.message);
  return (
    <>
      <p class="only-spoken" role="status" aria-live="polite">
        {spoken}
      </p>
      {message !== null && (
        <p class="message" aria-hidden="true">
          {message}
        </p>
      )}
    </>
  );
}

function NothingOpen(): VNode {
  return (
    <div class="nothing-open">
      <h2>No delivery is open</h2>
      <p>Choose one in the list to see its body, its headers and what became of it.</p>
      <ShortcutList shortcuts={shortcuts.slice(0, 4)} />
    </div>
  );
}

/** Each gives false where the key is left to the browser. */
const actions: Record<string, (model: PageModel) => unknown> = {
  j: (model) => step(model, 1),
  k: (model) => step(model, -1),
  G: (model) => step(model, Infinity),
  // At once: the next letter is already meant for it.
  '/': () => document.getElementById('search')?.focus(),
  '?': (model) => (model.dialog.value = { name: 'help' }),
  r: openReplay,
  c: copyCurl,
  Enter: (model) => {
    const row = model.neighbour(0);
    if (row !== null) openDelivery(model, row.seq);
    return row !== null;
  },
  Escape: (model) => {
    const { value: filter } = listFilter;
    if (route.value.view !== 'list') closePane();
    else if (filter.text !== '') model.setFilter({ ...filter, text: '' });
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
  End: (model) => step(model, Infinity),
};

/** The page's keys, except while something is typed, a dialog is open or another key is held. */
function usePageKeys(): void {
  const model = useModel();
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (model.dialog.value !== null || !(event.target instanceof Element)) return;
      if (event.target.closest('input, textarea, select, [contenteditable]') !== null) return;
      // The key that presses what has the focus.
      if (/^( |Enter)$/.test(event.key) && event.target.closest('button, a, summary') !== null) return;
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
function useKeptFocus(): void {
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

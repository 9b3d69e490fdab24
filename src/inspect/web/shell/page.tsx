import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { ChartsPane } from '../charts/charts-pane.tsx';
import { ComparePane } from '../compare/compare-pane.tsx';
import { DeliveryPane } from '../detail/delivery-pane.tsx';
import { ListPane } from '../list/list-pane.tsx';
import { useValue } from '../state/use-value.ts';
import { type Route, route } from '../state/route.ts';
import { Dialogs } from './dialogs.tsx';
import { Header } from './header.tsx';
import { Messages } from './messages.tsx';
import { NothingOpen } from './nothing-open.tsx';
import { useKeptFocus } from '../keys/kept-focus.ts';
import { usePageKeys } from '../keys/page-keys.ts';

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
  compare: 'Comparison',
  charts: 'Charts',
};

function pane(current: Route): VNode {
  if (current.view === 'delivery') return <DeliveryPane seq={current.seq} />;
  if (current.view === 'compare') return <ComparePane left={current.left} right={current.right} />;
  return current.view === 'charts' ? <ChartsPane /> : <NothingOpen />;
}

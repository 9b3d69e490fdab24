import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { ChartsPane } from '../charts/charts-pane.tsx';
import { Dialogs } from '../dialogs/open-dialog.tsx';
import { ListPane } from '../list/list-pane.tsx';
import { ComparePane } from '../panes/compare-pane.tsx';
import { DeliveryPane } from '../panes/delivery-pane.tsx';
import { useModel, useValue } from '../state/page-model.ts';
import { type Route, route } from '../state/route.ts';
import { Header } from './header.tsx';
import { useKeptFocus, usePageKeys } from './page-keys.ts';
import { ShortcutList, shortcuts } from './shortcuts.tsx';

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
  compare: 'Comparison',
  charts: 'Charts',
};

function pane(current: Route): VNode {
  if (current.view === 'delivery') return <DeliveryPane seq={current.seq} />;
  if (current.view === 'compare') return <ComparePane left={current.left} right={current.right} />;
  return current.view === 'charts' ? <ChartsPane /> : <NothingOpen />;
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

import type { VNode } from 'preact';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { go, route } from '../state/route.ts';
import { ReceivedText } from '../text/received-text.tsx';
import { ConnectionState } from './connection-state.tsx';
import { Key } from '../keys/key.tsx';
import { Mark } from './mark.tsx';

export function Header(): VNode {
  const model = useModel();
  const { view } = useValue(route);
  const { location, isReceiving } = model.inbox;
  return (
    <header class="header">
      <Mark />
      <h1>{isReceiving ? 'leads listen' : 'leads inspect'}</h1>
      <p class="location" title={location}>
        <ReceivedText text={location} />
      </p>
      <ConnectionState />
      <button
        type="button"
        class="button quiet"
        aria-pressed={view === 'charts'}
        onClick={() => go({ view: view === 'charts' ? 'list' : 'charts' })}
      >
        Charts
      </button>
      <button
        type="button"
        class="button quiet"
        aria-label="Keys"
        title="Keys"
        onClick={() => (model.dialog.value = { name: 'help' })}
      >
        <Key name="?" />
      </button>
    </header>
  );
}

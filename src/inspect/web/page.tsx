import type { VNode } from 'preact';
import { DeliveryPane } from './delivery/delivery-pane.tsx';
import { Button, Key, Popover, ReceivedText } from './elements.tsx';
import { shortcuts } from './keys.ts';
import { ListPane } from './list/list-pane.tsx';
import type { Connection } from './state/live.ts';
import type { PageModel } from './state/page-model.ts';

export function Page({ model }: { model: PageModel }): VNode {
  const { seq } = model.address;
  return (
    <div class={`page ${seq === null ? 'shows-list' : 'shows-pane'}`}>
      <Header model={model} />
      {model.live.connection.state === 'ended' && (
        <p class="started-again" role="alert">
          <strong>Open the new URL</strong> to continue: leads was started again, and printed it in its
          terminal.
        </p>
      )}
      <main>
        <ListPane model={model} />
        <section class="pane" id="pane" tabIndex={-1} aria-label={seq === null ? 'No delivery' : 'Delivery'}>
          {seq === null ? <NothingOpen /> : <DeliveryPane model={model} />}
        </section>
      </main>
      <Popover id="keys" title="Keys">
        <ShortcutList count={shortcuts.length} />
      </Popover>
      <p class="message" role="status">
        {model.message}
      </p>
    </div>
  );
}

const connectionTexts: Record<Connection['state'], string> = {
  connecting: 'Connecting',
  live: 'Live',
  unreadable: 'The inbox cannot be read now',
  lost: 'Connection lost, trying again',
  ended: 'Ended',
};

function Header({ model: { inbox, live } }: { model: PageModel }): VNode {
  const { state, detail } = live.connection;
  return (
    <header class="header">
      <Mark />
      <h1>leads inspect</h1>
      <p class="location" title={inbox.location}>
        <ReceivedText text={inbox.location} />
      </p>
      <p class={`connection is-${state}`} title={detail} role="status">
        <span class="dot" /> {connectionTexts[state]}
      </p>
      <Button class="button quiet" aria-label="Keys" title="Keys" popovertarget="keys">
        <Key name="?" />
      </Button>
    </header>
  );
}

export const Mark = (): VNode => (
  <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
    <rect width="32" height="32" rx="8" />
    <path d="M7 17.5 10.2 8.8A1.3 1.3 0 0 1 11.4 8h9.2a1.3 1.3 0 0 1 1.2.8L25 17.5V23a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 7 23zm0 0h5.2l1.4 2.7h4.8l1.4-2.7H25" />
  </svg>
);

const NothingOpen = (): VNode => (
  <div class="nothing-open">
    <h2>No delivery is open</h2>
    <p>Choose one in the list to see its body, its headers and every attempt to forward it.</p>
    <ShortcutList count={4} />
  </div>
);

const ShortcutList = ({ count }: { count: number }): VNode => (
  <dl class="shortcuts">
    {shortcuts.slice(0, count).map(({ keys, effect }) => (
      <div key={effect}>
        <dt>
          {keys.map((name) => (
            <kbd key={name} class="key">
              {name}
            </kbd>
          ))}
        </dt>
        <dd>{effect}</dd>
      </div>
    ))}
  </dl>
);

import { render, type VNode } from 'preact';
import { DeliveryPane } from './delivery/delivery-pane.tsx';
import { Button, Key, Popover, ReceivedText } from './elements.tsx';
import { onPageKey, shortcuts } from './keys.ts';
import { ListPane } from './list/list-pane.tsx';
import { openSession, watchReloads } from './state/api.ts';
import type { Connection } from './state/live.ts';
import { PageModel } from './state/page-model.ts';
import { type Problem, problemOf } from './state/problem.ts';
import { sentence } from './text.ts';

const root = document.getElementById('app') ?? document.body;

const retryMs = 2_000;

async function start(): Promise<void> {
  try {
    const { api, inbox } = await openSession();
    const model = new PageModel(api, inbox, draw);
    document.addEventListener('keydown', (event) => onPageKey(event, model));
    draw(model);
    await model.run();
  } catch (error) {
    const problem = problemOf(error);
    render(<CannotStart problem={problem} />, root);
    if (!problem.needsNewUrl) setTimeout(() => void start(), retryMs);
  }
}

/** Draws the page. Where that removes the element with the focus, the focus goes to the part of the page that held the element. */
function draw(model: PageModel): void {
  const { seq } = model.address;
  document.title = `${seq === null ? 'Inbox' : `Delivery ${seq}`} · leads inspect`;
  const focused = document.activeElement;
  const part = focused?.closest('#pane') === null ? 'list' : 'pane';
  render(<Page model={model} />, root);
  if (focused?.isConnected === false) document.getElementById(part)?.focus({ preventScroll: true });
}

const CannotStart = ({ problem: { code, message, hint, needsNewUrl } }: { problem: Problem }): VNode => (
  <main class="cannot-start">
    <Mark />
    <div role="alert">
      <h1>{needsNewUrl ? 'Open the new URL' : 'No connection'}</h1>
      {needsNewUrl ? (
        <p>
          {code === 'wrong-key' ? 'The key in this URL is not valid.' : 'This tab has no valid key.'} A URL
          opens the page once, within ten minutes. <code>leads</code> prints the next one in its terminal:
          open that one.
        </p>
      ) : (
        <p>
          {sentence(message)} {hint !== undefined && sentence(hint)} This page tries again by itself.
        </p>
      )}
    </div>
  </main>
);

function Page({ model }: { model: PageModel }): VNode {
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

const Mark = (): VNode => (
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

watchReloads();
void start();

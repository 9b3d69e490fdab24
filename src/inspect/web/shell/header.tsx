import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button, Key } from '../elements.tsx';
import type { Connection } from '../api-client/live.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { go, route } from '../state/route.ts';
import { ReceivedText } from '../text/received-text.tsx';

export function Header(): VNode {
  const model = useModel();
  const { view } = useValue(route);
  const { location } = model.inbox;
  return (
    <header class="header">
      <Mark />
      <h1>leads inspect</h1>
      <p class="location" title={location}>
        <ReceivedText text={location} />
      </p>
      <ConnectionState />
      <Button
        class="button quiet"
        aria-pressed={view === 'chart'}
        onClick={() => go({ view: view === 'chart' ? 'list' : 'chart' })}
      >
        Chart
      </Button>
      <Button
        class="button quiet"
        aria-label="Keys"
        title="Keys"
        onClick={() => (model.dialog.value = { name: 'help' })}
      >
        <Key name="?" />
      </Button>
    </header>
  );
}

const words: Record<Connection['state'], string> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost, trying again',
  ended: 'Ended',
};

function ConnectionState(): VNode {
  const { live, announcer } = useModel();
  const { state, inboxProblem } = useValue(live.connection);
  useEffect(() => {
    if (state === 'lost') announcer.say(words.lost);
  }, [state, announcer]);
  if (inboxProblem !== null) {
    return (
      <p class="connection is-lost" title={inboxProblem}>
        <span class="dot" /> The inbox cannot be read now
      </p>
    );
  }
  return (
    <p class={`connection is-${state}`}>
      <span class="dot" /> {words[state]}
      {state === 'lost' && (
        <Button class="link" onClick={() => live.retry()}>
          Try now
        </Button>
      )}
    </p>
  );
}

/** The program's sign. */
export function Mark(): VNode {
  return (
    <svg class="mark" viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 17.5 10.2 8.8A1.3 1.3 0 0 1 11.4 8h9.2a1.3 1.3 0 0 1 1.2.8L25 17.5V23a1.5 1.5 0 0 1-1.5 1.5h-15A1.5 1.5 0 0 1 7 23zm0 0h5.2l1.4 2.7h4.8l1.4-2.7H25" />
    </svg>
  );
}

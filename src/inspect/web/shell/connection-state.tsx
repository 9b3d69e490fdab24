import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Connection } from '../server/live-events.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';

const words: Record<Connection['state'], string> = {
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Connection lost, trying again',
  paused: 'Paused',
  ended: 'Ended',
};

export function ConnectionState(): VNode {
  const { live, announcer, inboxProblem } = useModel();
  const { state } = useValue(live.connection);
  const problem = useValue(inboxProblem);
  useEffect(() => {
    if (state === 'lost') announcer.say(words.lost);
  }, [state, announcer]);
  if (problem !== null && state === 'live') {
    return (
      <p class="connection is-lost" title={problem}>
        <span class="dot" /> The inbox cannot be read now
      </p>
    );
  }
  return (
    <p class={`connection is-${state}`}>
      <span class="dot" /> {words[state]}
      {state === 'lost' && (
        <button type="button" class="link" onClick={() => live.retry()}>
          Try now
        </button>
      )}
    </p>
  );
}

import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { useModel } from '../state/page-model.ts';
import type { SearchState } from '../state/search.ts';
import { plural } from '../text/shown-size.ts';

export function SearchProgress({ search }: { search: SearchState }): VNode {
  const { announcer, search: searching } = useModel();
  const { status, rows, searched, next } = search;
  const found = `${plural(rows.length, 'match', 'matches')}${next === null ? '' : ' so far'}`;
  useEffect(() => {
    if (status === 'done') announcer.say(found);
  }, [status, found, announcer]);
  return (
    <p class={`search-progress is-${status}`}>
      <span>
        {found}, {plural(searched, 'delivery', 'deliveries')} searched
      </span>
      {status === 'running' && (
        <button type="button" class="link" onClick={() => searching.cancel()}>
          Stop
        </button>
      )}
      {status === 'cancelled' && <span>stopped</span>}
      {status === 'failed' && <span role="alert">{search.problem?.message}</span>}
    </p>
  );
}

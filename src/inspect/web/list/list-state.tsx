import type { VNode } from 'preact';
import type { ListState as ListStateValue } from '../state/delivery-list.ts';
import { isFiltered, noFilter } from '../state/list-filter.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import type { SearchState } from '../state/search.ts';
import { sentence } from '../text/sentence.ts';

/** In place of the rows where there are none. */
export function ListState({
  list,
  search,
}: {
  list: ListStateValue;
  search: SearchState | null;
}): VNode | null {
  const model = useModel();
  const filter = useValue(model.filter);
  if (search === null ? list.isLoading : search.status === 'running')
    return <div class="list-state" id="list" tabIndex={-1} />;
  const problem = (search ?? list).problem;
  if (problem !== null) {
    return (
      <div class="list-state" id="list" tabIndex={-1} role="alert">
        <h2>The inbox cannot be read</h2>
        <p>{sentence(problem.message)}</p>
        <button type="button" class="button" onClick={() => model.setFilter(filter)}>
          Try again
        </button>
      </div>
    );
  }
  if (search !== null || isFiltered(filter)) {
    return (
      <div class="list-state" id="list" tabIndex={-1}>
        <h2>{search === null ? 'No delivery matches' : 'Nothing found'}</h2>
        {isFiltered(filter) && (
          <button type="button" class="button" onClick={() => model.setFilter(noFilter)}>
            Show all verdicts and times
          </button>
        )}
      </div>
    );
  }
  return (
    <div class="list-state" id="list" tabIndex={-1}>
      <h2>No deliveries yet</h2>
      <p>They appear here the moment they arrive.</p>
      {!model.inbox.isReceiving && (
        <p>
          Nothing receives in this process: start <code>leads listen</code> with this inbox.
        </p>
      )}
    </div>
  );
}

import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from '../elements.tsx';
import { copyText } from '../state/delivery-actions.ts';
import type { ListState as ListStateValue } from '../state/delivery-list.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { linkToShown } from '../state/route.ts';
import { isFiltered, noFilter } from '../state/rows.ts';
import type { SearchState } from '../state/search.ts';
import { plural, sentence, shownCount } from '../text/format.ts';
import { SearchField, TimeFilter, VerdictFilter } from './list-filters.tsx';
import { RowList } from './row-list.tsx';

export function ListPane(): VNode {
  const model = useModel();
  const list = useValue(model.list.state);
  const search = useValue(model.search.state);
  const { rows, next } = search ?? list;
  const isRunning = search === null ? list.isLoading : search.status === 'running';
  return (
    <section class="list-pane" aria-label="Inbox">
      <search class="tools">
        <SearchField />
        <TimeFilter />
        <VerdictFilter />
      </search>
      {search !== null && <SearchProgress search={search} />}
      {rows.length === 0 ? (
        <ListState list={list} search={search} />
      ) : (
        <RowList
          key={search?.text}
          rows={rows}
          places={search?.places ?? null}
          isWhole={next === null && !isRunning}
        />
      )}
      {search === null && rows.length > 0 && list.problem !== null && (
        <p class="list-problem" role="alert">
          {list.problem.message}{' '}
          <Button class="link" onClick={() => model.loadOlder()}>
            Try again
          </Button>
        </p>
      )}
    </section>
  );
}

/** In place of the rows where there are none. */
function ListState({ list, search }: { list: ListStateValue; search: SearchState | null }): VNode | null {
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
        <Button class="button" onClick={() => model.setFilter(filter)}>
          Try again
        </Button>
      </div>
    );
  }
  if (search !== null || isFiltered(filter)) {
    return (
      <div class="list-state" id="list" tabIndex={-1}>
        <h2>{search === null ? 'No delivery matches' : 'Nothing found'}</h2>
        {isFiltered(filter) && (
          <Button class="button" onClick={() => model.setFilter(noFilter)}>
            Show all verdicts and times
          </Button>
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

function SearchProgress({ search }: { search: SearchState }): VNode {
  const model = useModel();
  const { announcer, search: searching } = model;
  const { status, rows, searched, total, next } = search;
  const isWhole = status === 'done' && next === null;
  const all = total === null || isWhole ? '' : ` of ${shownCount(Math.max(total, searched, rows.length))}`;
  const found = `${plural(rows.length, 'match', 'matches')}${next === null ? '' : ' so far'}`;
  useEffect(() => {
    if (status === 'done') announcer.say(found);
  }, [status, found, announcer]);
  return (
    <p class={`search-progress is-${status}`}>
      <span>
        {found},{' '}
        {isWhole
          ? `${plural(searched, 'delivery', 'deliveries')} searched`
          : `${shownCount(Math.max(searched, rows.length))} searched${all}`}
      </span>
      <Button
        class="link"
        title="With the words of the search"
        onClick={() => void copyText(model, linkToShown())}
      >
        Copy link
      </Button>
      {status === 'running' && (
        <Button class="link" onClick={() => searching.cancel()}>
          Stop
        </Button>
      )}
      {status === 'cancelled' && <span>stopped</span>}
      {status === 'failed' && <span role="alert">{search.problem?.message}</span>}
    </p>
  );
}

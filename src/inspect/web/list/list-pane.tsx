import type { VNode } from 'preact';
import { useModel } from '../state/page-model.ts';
import { useValue } from '../state/use-value.ts';
import { ListState } from './list-state.tsx';
import { RowList } from './row-list.tsx';
import { SearchField } from './search-field.tsx';
import { SearchProgress } from './search-progress.tsx';
import { TimeFilter } from './time-filter.tsx';
import { VerdictFilter } from './verdict-filter.tsx';

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
          <button type="button" class="link" onClick={() => model.loadOlder()}>
            Try again
          </button>
        </p>
      )}
    </section>
  );
}

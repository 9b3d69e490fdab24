import type { VNode } from 'preact';
import type { WireRow } from '../../wire.ts';
import { Button, ReceivedText, Time, VerdictIcon } from '../elements.tsx';
import { hashOf, noFilter, requestQuery } from '../state/address.ts';
import type { PageModel } from '../state/page-model.ts';
import { capitalized, deliveryTitle, minuteTime, plural, sentence } from '../text.ts';
import { Chart } from './chart.tsx';
import { FilterBar } from './filter-bar.tsx';

export function ListPane({ model }: { model: PageModel }): VNode {
  const { list, address } = model;
  const { rows, next, hasNewer, isLoading, problem, unseen, hasMoreUnseen } = list;
  const hasOpen = rows.some(({ seq }) => seq === address.seq);
  const focusFirstRow = async (isShown: Promise<boolean>): Promise<void> => {
    if (!(await isShown)) return;
    const listElement = document.getElementById('list');
    listElement?.scrollTo(0, 0);
    listElement?.querySelector('a')?.focus();
  };
  return (
    <section class="list-pane" aria-label="Inbox">
      <FilterBar model={model} />
      <Chart model={model} />
      <SearchProgress model={model} />
      <div class="rows-frame">
        {unseen > 0 && (
          <Button class="button primary unseen" onClick={() => void focusFirstRow(list.show(address.filter))}>
            {hasMoreUnseen
              ? `More than ${unseen} new deliveries`
              : plural(unseen, 'new delivery', 'new deliveries')}
          </Button>
        )}
        <div id="list" class="rows" tabIndex={-1}>
          {rows.length === 0 && <EmptyList model={model} />}
          <ol aria-label="Deliveries">
            {rows.map((row, i) => (
              <Row
                key={row.seq}
                row={row}
                href={hashOf({ ...address, seq: row.seq })}
                isOpen={row.seq === address.seq}
                isTabStop={hasOpen ? row.seq === address.seq : i === 0}
              />
            ))}
          </ol>
          <p class="pager">
            {hasNewer && (
              <Button class="button" onClick={() => void focusFirstRow(list.showNewer())}>
                Newer
              </Button>
            )}
            {next !== null && !isLoading && (
              <Button class="button" onClick={() => void focusFirstRow(list.showOlder())}>
                Older
              </Button>
            )}
          </p>
        </div>
      </div>
      {rows.length > 0 && problem !== null && (
        <p class="search-progress has-failed" role="alert">
          {sentence(problem.message)}
        </p>
      )}
    </section>
  );
}

interface RowProps {
  readonly row: WireRow;
  readonly href: string;
  readonly isOpen: boolean;
  /** Tab reaches this row alone; j and k lead to the others. */
  readonly isTabStop: boolean;
}

function Row({ row, href, isOpen, isTabStop }: RowProps): VNode {
  const { seq, verdict, leadId, reason, category, receivedAt, dead } = row;
  const title = deliveryTitle(row);
  return (
    <li>
      <a
        id={`row-${seq}`}
        class={`row is-${verdict}`}
        href={href}
        tabIndex={isTabStop ? 0 : -1}
        {...(isOpen && { 'aria-current': 'true' })}
      >
        <span class="row-verdict">
          <VerdictIcon verdict={verdict} />
          <span>{capitalized(verdict)}</span>
        </span>
        <span class="row-name">
          <ReceivedText text={title} />
        </span>
        <span class="row-time">
          <Time time={receivedAt} />
        </span>
        <span class="row-category">
          <ReceivedText text={category ?? ''} />
        </span>
        <span class="row-id">
          <ReceivedText text={leadId === title ? '' : (leadId ?? reason ?? '')} />
        </span>
        <span class={`row-state${dead > 0 ? ' has-failed' : ''}`}>{stateText(row)}</span>
      </a>
    </li>
  );
}

/** Shows how the row differs from a first delivery: `attempt 3 · 1 waiting`. */
function stateText({ attempt, source, done, waiting, dead }: WireRow): string {
  const parts = [
    source !== 'push' && source,
    attempt > 1 && `attempt ${attempt}`,
    done > 0 && `${done} done`,
    waiting > 0 && `${waiting} waiting`,
    dead > 0 && `${dead} dead`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}

function EmptyList({ model }: { model: PageModel }): VNode {
  const { isLoading, problem } = model.list;
  if (problem !== null) {
    return (
      <div class="empty-list" role="alert">
        <h2>The inbox cannot be read</h2>
        <p>{sentence(problem.message)}</p>
      </div>
    );
  }
  if (isLoading) return <div class="empty-list" aria-busy="true" />;
  if (requestQuery(model.address.filter) !== '') {
    return (
      <div class="empty-list">
        <h2>No delivery matches</h2>
        <Button class="button" onClick={() => model.filterBy(noFilter)}>
          Show all deliveries
        </Button>
      </div>
    );
  }
  return (
    <div class="empty-list">
      <h2>No deliveries yet</h2>
      <p>They appear here the moment they arrive.</p>
      <p>
        Nothing receives in this process: <code>leads listen</code> does.
      </p>
    </div>
  );
}

/** A screen reader hears of arrivals by the minute of the newest one, so at most once a minute. */
function SearchProgress({ model: { list, address } }: { model: PageModel }): VNode {
  const { rows, next, isLoading } = list;
  const [newest] = rows;
  if (address.filter.text === '') {
    return (
      <p class="only-spoken" role="status">
        {newest !== undefined && `Newest delivery: ${minuteTime(newest.receivedAt)}`}
      </p>
    );
  }
  const matches = `${plural(rows.length, 'match', 'matches')}${next === null ? '' : ' so far'}`;
  return (
    <p class="search-progress" role="status">
      {isLoading ? 'Searching…' : matches}
    </p>
  );
}

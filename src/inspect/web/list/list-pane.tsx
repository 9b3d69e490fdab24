import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Icon, Key, RangeSelect } from '../elements.tsx';
import { copyText, focusOn } from '../state/delivery-actions.ts';
import type { ListState as ListStateValue } from '../state/delivery-list.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { linkToShown } from '../state/route.ts';
import { isFiltered, noFilter } from '../state/rows.ts';
import type { SearchState } from '../state/search.ts';
import { plural, sentence, shownCount, capitalized } from '../text/format.ts';
import { RowList } from './row-list.tsx';
import { verdicts, type WireVerdict } from '../../wire.ts';
import { VerdictIcon } from '../text/verdict.tsx';

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
      <p>
        Nothing receives in this process: <code>leads listen</code> does.
      </p>
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

/** A search begins when nothing was typed for this long; ms. */
const pauseMs = 120;

function SearchField(): VNode {
  const model = useModel();
  const search = useValue(model.search.state);
  const [text, setText] = useState(search?.text ?? '');
  const timer = useRef<number | undefined>(undefined);
  const asked = useRef(search?.text ?? '');
  const find = (query: string): void => {
    clearTimeout(timer.current);
    const wanted = query.trim();
    asked.current = wanted;
    const { value: current } = model.search.state;
    // What was found, or is being found, stays.
    const isThere = current?.text === wanted && (current.status === 'done' || current.status === 'running');
    if (!isThere) model.find(wanted);
  };
  // It was ended or begun elsewhere: what is typed meanwhile stays.
  useEffect(() => {
    const found = search?.text ?? '';
    if (found !== asked.current) setText((asked.current = found));
  }, [search?.text]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      find(text);
      focusOn('list');
    } else if (event.key === 'Escape') {
      if (search?.status === 'running') model.search.cancel();
      else {
        setText('');
        find('');
      }
      focusOn('list');
    } else return;
    event.preventDefault();
  };
  return (
    <div class="search-field">
      <Icon>
        <path d="M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9m3.3 7.8 3.2 3.2" />
      </Icon>
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        aria-label="Search in all that a delivery holds"
        title="All words, such as: ada reason:stale status:401 target:crm since:1h"
        aria-keyshortcuts="/"
        placeholder="Search"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          clearTimeout(timer.current);
          const { value } = currentTarget;
          if (value.trim() === '') find('');
          else timer.current = setTimeout(() => find(value), pauseMs);
        }}
        onKeyDown={onKeyDown}
      />
      {text === '' && <Key name="/" />}
    </div>
  );
}

const ranges: readonly { readonly name: string; readonly ms: number | null }[] = [
  { name: 'Any time', ms: null },
  { name: 'Last 15 minutes', ms: 900_000 },
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 604_800_000 },
  { name: 'Last 30 days', ms: 2_592_000_000 },
];
const between = 'between';

/** As a field for a time of this place has it. */
const fieldText = (at: number | null): string =>
  at === null ? '' : new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

function TimeFilter(): VNode {
  const model = useModel();
  const filter = useValue(model.filter);
  const [isBetween, setBetween] = useState(false);
  const { last, since, until } = filter;
  const isWindow = last === null && (since !== null || until !== null);
  const known = ranges.findIndex(({ ms }) => ms === last);
  const range = isWindow || (isBetween && last === null) ? between : String(Math.max(0, known));
  const choose = (value: string): void => {
    setBetween(value === between);
    const ms = ranges[Number(value)]?.ms ?? null;
    model.setFilter({ ...filter, last: ms, since: ms === null ? null : Date.now() - ms, until: null });
  };
  const setEnd = (name: 'since' | 'until', value: string): void => {
    setBetween(true);
    const at = new Date(value).getTime();
    model.setFilter({ ...filter, last: null, [name]: Number.isNaN(at) ? null : at });
  };
  return (
    <div class="time-filter">
      <RangeSelect label="Time" ranges={ranges} value={range} onChoose={choose}>
        <option value={between}>Between…</option>
      </RangeSelect>
      {range === between &&
        (['since', 'until'] as const).map((name) => (
          <label key={name}>
            <span>{name === 'since' ? 'From' : 'Until'}</span>
            <input
              type="datetime-local"
              value={fieldText(filter[name])}
              onChange={({ currentTarget }) => setEnd(name, currentTarget.value)}
            />
          </label>
        ))}
    </div>
  );
}

/** `950`, `12k`: the row has little room. Of pending ones not all are counted. */
function chipCount(verdict: WireVerdict, count: number): string {
  if (verdict === 'pending' && count >= 1_000) return '1k+';
  return count < 10_000 ? shownCount(count) : shortCount.format(count);
}

const shortCount = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** Any of the pressed ones; none pressed: all. */
function VerdictFilter(): VNode {
  const model = useModel();
  const filter = useValue(model.filter);
  const counts = useValue(model.counts);
  const toggle = (verdict: WireVerdict): void => {
    const others = filter.verdicts.filter((one) => one !== verdict);
    const wasPressed = others.length < filter.verdicts.length;
    model.setFilter({ ...filter, verdicts: wasPressed ? others : [...others, verdict] });
  };
  return (
    <div class="verdict-filter" role="group" aria-label="Verdict">
      {verdicts.map((verdict) => (
        <Button
          key={verdict}
          class="chip"
          aria-pressed={filter.verdicts.includes(verdict)}
          onClick={() => toggle(verdict)}
        >
          <VerdictIcon verdict={verdict} />
          {capitalized(verdict)}{' '}
          {counts !== null && <span class="chip-count">{chipCount(verdict, counts[verdict])}</span>}
        </Button>
      ))}
    </div>
  );
}

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { listFilters, type WireListFilter } from '../../wire.ts';
import { Button, Icon, Key, RangeSelect } from '../elements.tsx';
import { focusOn } from '../state/delivery-actions.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { listFilter } from '../state/route.ts';
import { isFiltered, noFilter } from '../state/rows.ts';
import { capitalized, plural, sentence, shownCount } from '../text/format.ts';
import { VerdictIcon } from '../text/verdict.tsx';
import { RowList } from './row-list.tsx';

export function ListPane(): VNode {
  const { list } = useModel();
  const { rows, next, isLoading, problem } = useValue(list.state);
  return (
    <section class="list-pane" aria-label="Inbox">
      <search class="tools">
        <TextFilter />
        <TimeFilter />
        <VerdictFilter />
      </search>
      <SearchProgress />
      {rows.length === 0 ? (
        <EmptyList />
      ) : (
        <RowList
          rows={rows}
          canLoadOlder={next !== null && !isLoading && problem === null}
          isWhole={next === null && !isLoading}
        />
      )}
      {rows.length > 0 && problem !== null && (
        <p class="list-problem" role="alert">
          {problem.message}{' '}
          <Button class="link" onClick={() => void list.loadOlder()}>
            Try again
          </Button>
        </p>
      )}
    </section>
  );
}

/** In place of the rows where there are none. */
function EmptyList(): VNode {
  const model = useModel();
  const filter = useValue(listFilter);
  const { next, isLoading, problem } = useValue(model.list.state);
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
  if (isLoading || next !== null) return <div class="list-state" id="list" tabIndex={-1} />;
  return (
    <div class="list-state" id="list" tabIndex={-1}>
      {isFiltered(filter) ? (
        <>
          <h2>No delivery matches</h2>
          <Button class="button" onClick={() => model.setFilter(noFilter)}>
            Show all deliveries
          </Button>
        </>
      ) : (
        <>
          <h2>No deliveries yet</h2>
          <p>They appear here the moment they arrive.</p>
          <p>
            Nothing receives in this process: <code>leads listen</code> does.
          </p>
        </>
      )}
    </div>
  );
}

/** How far the words of the filter were looked for. */
function SearchProgress(): VNode | null {
  const { list, announcer } = useModel();
  const { text } = useValue(listFilter);
  const { rows, next, isLoading } = useValue(list.state);
  const found = plural(rows.length, 'match', 'matches');
  const isWhole = next === null && !isLoading;
  useEffect(() => {
    if (text !== '' && isWhole) announcer.say(found);
  }, [text, isWhole, found, announcer]);
  if (text === '') return null;
  return <p class="search-progress">{isLoading ? 'Searching…' : isWhole ? found : `${found} so far`}</p>;
}

/** A search begins when nothing was typed for this long; ms. */
const pauseMs = 150;

function TextFilter(): VNode {
  const model = useModel();
  const { text: wanted } = useValue(listFilter);
  const [text, setText] = useState(wanted);
  const timer = useRef<number | undefined>(undefined);
  const asked = useRef(wanted);
  // It was cleared elsewhere: what is typed meanwhile stays otherwise.
  useEffect(() => {
    if (wanted !== asked.current) setText((asked.current = wanted));
  }, [wanted]);
  const find = (typed: string): void => {
    clearTimeout(timer.current);
    const words = (asked.current = typed.trim());
    if (words !== listFilter.value.text) model.setFilter({ ...listFilter.value, text: words });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    if (event.key === 'Escape') setText('');
    find(event.key === 'Escape' ? '' : text);
    focusOn('list');
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
        aria-label="Words of the id, the name, the category or the reason"
        aria-keyshortcuts="/"
        placeholder="Id, name, category, reason"
        value={text}
        onInput={({ currentTarget: { value } }) => {
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => find(value), pauseMs);
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
  const filter = useValue(listFilter);
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

/** `950`, `12k`: the row has little room. Of leads that wait, or are dead, not all are counted. */
function chipCount(verdict: WireListFilter, count: number): string {
  if ((verdict === 'waiting' || verdict === 'dead') && count >= 1_000) return '1k+';
  return count < 10_000 ? shownCount(count) : shortCount.format(count);
}

const shortCount = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** Any of the pressed ones; none pressed: all. */
function VerdictFilter(): VNode {
  const model = useModel();
  const filter = useValue(listFilter);
  const counts = useValue(model.counts);
  const toggle = (verdict: WireListFilter): void => {
    const others = filter.verdicts.filter((one) => one !== verdict);
    const wasPressed = others.length < filter.verdicts.length;
    model.setFilter({ ...filter, verdicts: wasPressed ? others : [...others, verdict] });
  };
  return (
    <div class="verdict-filter" role="group" aria-label="Verdict">
      {listFilters.map((verdict) => (
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

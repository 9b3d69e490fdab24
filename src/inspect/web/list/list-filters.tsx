import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { verdicts, type WireVerdict } from '../../wire.ts';
import { Button, Icon, Key, RangeSelect } from '../elements.tsx';
import { focusOn } from '../state/delivery-actions.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { capitalized, shownCount } from '../text/format.ts';
import { VerdictIcon } from '../text/verdict.tsx';

/** A search begins when nothing was typed for this long; ms. */
const pauseMs = 120;

export function SearchField(): VNode {
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

export function TimeFilter(): VNode {
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
export function VerdictFilter(): VNode {
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

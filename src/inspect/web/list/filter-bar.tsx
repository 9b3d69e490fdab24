import type { VNode } from 'preact';
import { listFilters, type WireListFilter } from '../../wire.ts';
import { Button, Icon, Key } from '../elements.tsx';
import type { PageModel } from '../state/page-model.ts';
import { capitalized, countText } from '../text.ts';

export const FilterBar = ({ model }: { model: PageModel }): VNode => (
  <search class="tools">
    <TextFilter model={model} />
    <TimeFilter model={model} />
    <VerdictFilter model={model} />
  </search>
);

function TextFilter({ model }: { model: PageModel }): VNode {
  const { text } = model.address.filter;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' && event.key !== 'Escape') return;
    if (event.key === 'Escape') model.filterBy({ text: '' });
    document.getElementById('list')?.focus({ preventScroll: true });
    event.preventDefault();
  };
  return (
    <div class="search-field">
      <Icon path="M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9m3.3 7.8 3.2 3.2" />
      <input
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        aria-label="Words of the id, the name, the category or the reason"
        aria-keyshortcuts="/"
        placeholder="Id, name, category, reason"
        value={text}
        onInput={({ currentTarget }) => model.search(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {text === '' && <Key name="/" />}
    </div>
  );
}

const ranges = [
  { name: 'Last 15 minutes', ms: 900_000 },
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 604_800_000 },
  { name: 'Last 30 days', ms: 2_592_000_000 },
] as const;

function TimeFilter({ model }: { model: PageModel }): VNode {
  const { last, since, until } = model.address.filter;
  const isBetween = since !== null || until !== null;
  const choose = (value: string): void => {
    const midnight = new Date().setHours(0, 0, 0, 0);
    const from = value === 'between' ? midnight : null;
    model.filterBy({ last: Number(value) || null, since: from, until: null });
  };
  const setBound = (name: 'since' | 'until', value: string): void =>
    model.filterBy({ last: null, [name]: value === '' ? null : new Date(value).getTime() });
  return (
    <div class="time-filter">
      <select
        aria-label="Time"
        value={isBetween ? 'between' : String(last ?? '')}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        <option value="">Any time</option>
        {ranges.map(({ name, ms }) => (
          <option key={name} value={String(ms)}>
            {name}
          </option>
        ))}
        <option value="between">Between…</option>
      </select>
      {isBetween &&
        (['since', 'until'] as const).map((name) => (
          <label key={name} class="note">
            <span>{name === 'since' ? 'From' : 'Until'}</span>
            <input
              type="datetime-local"
              value={fieldText(model.address.filter[name])}
              onChange={({ currentTarget }) => setBound(name, currentTarget.value)}
            />
          </label>
        ))}
    </div>
  );
}

/** The value of a `datetime-local` field: a local time without a zone. */
const fieldText = (time: number | null): string =>
  time === null
    ? ''
    : new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** The server counts waiting and dead leads only up to 1,000. */
function chipCount(verdict: WireListFilter, count: number): string {
  if ((verdict === 'waiting' || verdict === 'dead') && count >= 1_000) return '1k+';
  return count < 10_000 ? countText(count) : shortCount.format(count);
}

const shortCount = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

function VerdictFilter({ model }: { model: PageModel }): VNode {
  const { counts, address } = model;
  const { verdicts } = address.filter;
  const toggle = (verdict: WireListFilter): void => {
    const isPressedNext = (name: WireListFilter): boolean => verdicts.includes(name) !== (name === verdict);
    model.filterBy({ verdicts: listFilters.filter(isPressedNext) });
  };
  return (
    <div class="verdict-filter" role="group" aria-label="Verdict">
      {listFilters.map((verdict) => (
        <Button
          key={verdict}
          class="chip"
          aria-pressed={verdicts.includes(verdict)}
          onClick={() => toggle(verdict)}
        >
          <span class={`is-${verdict}`}>{capitalized(verdict)}</span>{' '}
          {counts !== null && <span class="chip-count">{chipCount(verdict, counts.rows[verdict])}</span>}
        </Button>
      ))}
    </div>
  );
}

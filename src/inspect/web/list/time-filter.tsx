import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';

const ranges: readonly { readonly name: string; readonly ms: number | null }[] = [
  { name: 'Any time', ms: null },
  { name: 'Last 15 minutes', ms: 900_000 },
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 604_800_000 },
  { name: 'Last 30 days', ms: 2_592_000_000 },
];
const between = 'between';

/** As the fields have them. */
const noEnds = { since: '', until: '' };

export function TimeFilter(): VNode {
  const model = useModel();
  const filter = useValue(model.filter);
  const [range, setRange] = useState('0');
  const [ends, setEnds] = useState(noEnds);
  // Another part of the page showed all again.
  const isAll = filter.since === null && filter.until === null;
  useEffect(() => {
    if (!isAll) return;
    setRange((old) => (old === between ? old : '0'));
    setEnds(noEnds);
  }, [isAll]);
  const choose = (value: string): void => {
    setRange(value);
    const ms = ranges[Number(value)]?.ms ?? null;
    model.setFilter({ ...filter, since: ms === null ? null : Date.now() - ms, until: null });
  };
  const setEnd = (name: 'since' | 'until', value: string): void => {
    setEnds({ ...ends, [name]: value });
    const at = new Date(value).getTime();
    model.setFilter({ ...filter, [name]: Number.isNaN(at) ? null : at });
  };
  return (
    <div class="time-filter">
      <select aria-label="Time" value={range} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {ranges.map(({ name }, i) => (
          <option key={name} value={String(i)}>
            {name}
          </option>
        ))}
        <option value={between}>Between…</option>
      </select>
      {range === between &&
        (['since', 'until'] as const).map((name) => (
          <label key={name}>
            <span>{name === 'since' ? 'From' : 'Until'}</span>
            <input
              type="datetime-local"
              value={ends[name]}
              onChange={({ currentTarget }) => setEnd(name, currentTarget.value)}
            />
          </label>
        ))}
    </div>
  );
}

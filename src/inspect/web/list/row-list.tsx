import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { WireRow } from '../../wire.ts';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { route } from '../state/route.ts';
import { plural } from '../text/shown-size.ts';
import { DeliveryRow, rowId } from './delivery-row.tsx';
import { useHeldPlace } from './held-place.ts';
import { useScrollPlace } from './scroll-place.ts';

/** px; the same as in the style sheet. */
const rowHeight = 60;

/** Rows that are drawn above and below what is seen, so that scrolling shows no gaps. */
const extraRows = 8;

/** How far from the end of what is loaded older ones are asked for; rows. */
const loadAheadRows = 40;

interface RowListProps {
  readonly rows: readonly WireRow[];
  /** What was found, by number; null while there is no search. */
  readonly places: ReadonlyMap<number, string> | null;
  /** There are no older ones. */
  readonly isWhole: boolean;
}

/** Rows, of which only those that are seen are drawn. */
export function RowList({ rows, places, isWhole }: RowListProps): VNode {
  const model = useModel();
  const selected = useValue(model.selected);
  const current = useValue(route);
  const scroller = useRef<HTMLDivElement>(null);
  const place = useScrollPlace(scroller, rowHeight);
  const now = useMinute();
  const first = Math.max(0, place.first - extraRows);
  const end = Math.min(rows.length, place.first + place.count + extraRows);
  const shownRows = rows.slice(first, end);

  useEffect(() => {
    model.firstSeen = place.first;
    if (places === null) {
      model.list.setAtTop(place.isAtTop);
      model.list.drawnFrom(first);
    }
    // Of what is there by now: rows may have arrived since this was drawn.
    if (!isWhole && end + loadAheadRows >= model.rows.length) model.loadOlder();
  }, [model, place, first, end, rows.length, isWhole, places]);
  useSelectedInView(scroller, rows, selected);
  useHeldPlace(scroller, rowHeight, places !== null);

  const isDrawn = shownRows.some(({ seq }) => seq === selected);
  return (
    <div class="rows-frame">
      <UnseenButton scroller={scroller} isSearch={places !== null} />
      <div
        ref={scroller}
        id="list"
        class="rows"
        role="grid"
        tabIndex={0}
        aria-label="Deliveries"
        onFocus={({ currentTarget }) => {
          // People who come here by keyboard see where the keys begin.
          const isByKey = currentTarget.matches(':focus-visible');
          if (isByKey && !isDrawn) model.selected.value = rows[place.first]?.seq ?? null;
        }}
        aria-rowcount={isWhole ? rows.length : -1}
        {...(isDrawn && selected !== null && { 'aria-activedescendant': rowId(selected) })}
      >
        <div class="rows-all" role="presentation" style={{ height: `${rows.length * rowHeight}px` }}>
          {shownRows.map((row, i) => (
            <DeliveryRow
              key={row.seq}
              row={row}
              index={first + i}
              top={(first + i) * rowHeight}
              now={now}
              place={places?.get(row.seq) ?? null}
              isSelected={row.seq === selected}
              isOpen={current.view === 'delivery' && current.seq === row.seq}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Of arrivals while the list is scrolled down. */
function UnseenButton({
  scroller,
  isSearch,
}: {
  scroller: { current: HTMLDivElement | null };
  isSearch: boolean;
}): VNode | null {
  const { unseen } = useValue(useModel().list.state);
  if (unseen === 0 || isSearch) return null;
  return (
    <button type="button" class="unseen" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
      {plural(unseen, 'new delivery', 'new deliveries')}
    </button>
  );
}

/** Scrolls to the row that the keys moved to, not to one that arrivals moved. */
function useSelectedInView(
  scroller: { current: HTMLDivElement | null },
  rows: readonly WireRow[],
  selected: number | null,
): void {
  useLayoutEffect(() => {
    const index = rows.findIndex(({ seq }) => seq === selected);
    const { current } = scroller;
    if (index === -1 || current === null) return;
    const top = index * rowHeight;
    const lowest = top + rowHeight - current.clientHeight;
    if (current.scrollTop > top) current.scrollTop = top;
    else if (current.scrollTop < lowest) current.scrollTop = lowest;
  }, [selected]);
}

/** The time, each minute: what is of today changes at midnight. */
function useMinute(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

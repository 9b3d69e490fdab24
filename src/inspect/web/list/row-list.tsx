import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { WireRow } from '../../wire.ts';
import { Button } from '../elements.tsx';
import { useModel, useValue } from '../state/page-model.ts';
import { route } from '../state/route.ts';
import { plural } from '../text/format.ts';
import { DeliveryRow, rowId } from './delivery-row.tsx';

/** px; the same as in the style sheet. */
const rowHeight = 40;

/** Rows that are drawn above and below what is seen, so that scrolling shows no gaps. */
const extraRows = 8;

/** How far from the end of what is loaded older ones are asked for; rows. */
const loadAheadRows = 40;

interface RowListProps {
  readonly rows: readonly WireRow[];
  /** There are older ones, which may be read now. */
  readonly canLoadOlder: boolean;
  /** These rows are all. */
  readonly isWhole: boolean;
}

/** Rows, of which only those that are seen are drawn. */
export function RowList({ rows, canLoadOlder, isWhole }: RowListProps): VNode {
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
    model.list.setAtTop(place.isAtTop);
    if (canLoadOlder && end + loadAheadRows >= rows.length) void model.list.loadOlder();
    else model.list.drawn(first, end);
  }, [model, place, first, end, rows, canLoadOlder]);
  useSelectedInView(scroller, rows, selected);
  useAim(scroller);

  const isDrawn = shownRows.some(({ seq }) => seq === selected);
  return (
    <div class="rows-frame">
      <UnseenButton scroller={scroller} />
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
              isSelected={row.seq === selected}
              isOpen={current.view === 'delivery' && current.seq === row.seq}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** No row moves under a pointer or a focus that is on the list, nor while one of them is open. */
function useAim(scroller: { current: HTMLDivElement | null }): void {
  const { list } = useModel();
  useLayoutEffect(() => {
    const { current } = scroller;
    list.isAimedAt = () =>
      route.value.view === 'delivery' ||
      (current !== null && (current.matches(':hover') || current.contains(document.activeElement)));
    // Once the pointer or the focus is where it goes to.
    const release = (): void => void requestAnimationFrame(() => list.release());
    current?.addEventListener('pointerleave', release);
    current?.addEventListener('focusout', release);
    const unsubscribe = route.subscribe(release);
    return () => {
      current?.removeEventListener('pointerleave', release);
      current?.removeEventListener('focusout', release);
      unsubscribe();
      list.isAimedAt = () => false;
    };
  }, [scroller, list]);
}

/** Of arrivals that are not shown yet. */
function UnseenButton({ scroller }: { scroller: { current: HTMLDivElement | null } }): VNode | null {
  const { list } = useModel();
  const { unseen, hasMoreUnseen } = useValue(list.state);
  if (unseen === 0) return null;
  const show = (): void => {
    scroller.current?.scrollTo({ top: 0 });
    void list.showNewest();
  };
  return (
    <Button class="unseen" onClick={show}>
      {hasMoreUnseen
        ? `More than ${unseen} new deliveries`
        : plural(unseen, 'new delivery', 'new deliveries')}
    </Button>
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

interface ScrollPlace {
  /** The first row that is seen, and how many are. */
  readonly first: number;
  readonly count: number;
  readonly isAtTop: boolean;
}

/** What is seen of rows of one height; it changes only when another row comes into view. */
function useScrollPlace(scroller: { current: HTMLElement | null }, rowHeight: number): ScrollPlace {
  const [place, setPlace] = useState<ScrollPlace>({ first: 0, count: 30, isAtTop: true });
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const measure = (): void => {
      // Not while the pane covers the list: it will be where it was.
      if (current.clientHeight === 0) return;
      const first = Math.floor(current.scrollTop / rowHeight);
      const count = Math.ceil(current.clientHeight / rowHeight) + 1;
      const isAtTop = current.scrollTop < rowHeight / 2;
      setPlace((old) =>
        old.first === first && old.count === count && old.isAtTop === isAtTop
          ? old
          : { first, count, isAtTop },
      );
    };
    const resized = new ResizeObserver(measure);
    resized.observe(current);
    current.addEventListener('scroll', measure, { passive: true });
    return () => {
      resized.disconnect();
      current.removeEventListener('scroll', measure);
    };
  }, [scroller, rowHeight]);
  return place;
}

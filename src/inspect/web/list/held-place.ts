import { useLayoutEffect, useRef } from 'preact/hooks';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { route } from '../state/route.ts';

/**
 * Keeps the selected row where it is seen while deliveries arrive above it, as long as it is open or the list has the focus:
 * scrolls by what was inserted. From then on the list is scrolled down, and arrivals are only counted.
 */
export function useHeldPlace(
  scroller: { current: HTMLElement | null },
  rowHeight: number,
  isSearch: boolean,
): void {
  const model = useModel();
  const { inserted } = useValue(model.list.state);
  const before = useRef(inserted);
  useLayoutEffect(() => {
    const added = inserted - before.current;
    before.current = inserted;
    const { current } = scroller;
    if (added <= 0 || isSearch || current === null) return;
    if (route.value.view !== 'delivery' && document.activeElement !== current) return;
    const top = (model.rows.findIndex(({ seq }) => seq === model.selected.value) - added) * rowHeight;
    if (top < 0 || top >= current.scrollTop + current.clientHeight) return;
    current.scrollTop += added * rowHeight;
    if (current.scrollTop >= rowHeight / 2) model.list.countUnseen(added);
  }, [inserted]);
}

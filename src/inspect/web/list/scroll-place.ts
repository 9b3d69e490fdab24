import { useLayoutEffect, useState } from 'preact/hooks';

export interface ScrollPlace {
  /** The first row that is seen, and how many are. */
  readonly first: number;
  readonly count: number;
  readonly isAtTop: boolean;
}

/** What is seen of rows of one height; it changes only when another row comes into view. */
export function useScrollPlace(scroller: { current: HTMLElement | null }, rowHeight: number): ScrollPlace {
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

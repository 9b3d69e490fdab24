import { useEffect, useState } from 'preact/hooks';

/** Counts up as time passes, while the tab is seen. */
export function useEvery(ms: number): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setCount((old) => old + 1);
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return count;
}

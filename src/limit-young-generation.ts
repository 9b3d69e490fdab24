import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/**
 * Of the young generation, both halves together, in bytes: with twice as much, deliveries cost no less of the processor.
 * With a quarter, the pages of a walk are moved to where long-lived objects are, and 30 MB of them wait there to be collected.
 */
const mostBytes = 16 * 1024 * 1024;

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;

/**
 * Keeps the memory of a long run the same on every node: node 24 lets the young generation grow to 128 MB, for deliveries
 * and pages that are forgotten within a moment. Its limit can only be set before node starts, and a launcher that starts
 * node again would double the time of every start; by how much it grows can be set at any time. Ends when `signal` aborts.
 */
export function limitYoungGeneration(signal: AbortSignal): void {
  let mayGrow: boolean | undefined;
  // A quiet receiver's young generation shrinks, and must be able to grow again.
  const observer = new PerformanceObserver(() => {
    const hasRoom = 2 * youngBytes() <= mostBytes;
    if (hasRoom === mayGrow) return;
    mayGrow = hasRoom;
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  });
  observer.observe({ entryTypes: ['gc'] });
  signal.addEventListener('abort', () => observer.disconnect(), { once: true });
}

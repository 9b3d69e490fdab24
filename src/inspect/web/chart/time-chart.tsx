import type { VNode } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { verdicts, type WireBucket, type WireChart } from '../../wire.ts';
import { Button } from '../elements.tsx';
import { besideEachOther } from '../state/delivery-actions.ts';
import { goFilter, listFilter, route } from '../state/route.ts';
import { capitalized, plural, shownCount, shownDuration } from '../text/format.ts';
import { VerdictIcon } from '../text/verdict.tsx';
import { countTicks, timeTicks } from './ticks.ts';

/** px; `left` is for the scale, `bottom` for the times. */
const frame = { height: 220, left: 56, top: 8, bottom: 24 } as const;

const plotHeight = frame.height - frame.top - frame.bottom;

/** Of a share of the scale, 0 at the bottom. */
const yOf = (share: number): number => frame.top + plotHeight * (1 - share);

const total = (bucket: WireBucket): number => verdicts.reduce((sum, verdict) => sum + bucket[verdict], 0);

/** Stacked bars over time by verdict, what is under the pointer, and the numbers as a table. */
export function TimeChart({ chart }: { chart: WireChart }): VNode {
  const { buckets, bucketMs, since, until } = chart;
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const plot = width - frame.left;
  const [pointedIndex, setPointed] = useState<number | null>(null);
  const pointed = buckets[pointedIndex ?? -1];
  const ticks = countTicks(Math.max(...buckets.map(total), 0));
  const most = ticks.at(-1) ?? 1;
  const barWidth = plot / buckets.length;
  const xOf = (at: number): number => frame.left + ((at - since) / (until - since)) * plot;
  const onPointerMove = (event: PointerEvent): void => {
    const x = event.clientX - (element.current?.getBoundingClientRect().left ?? 0) - frame.left;
    const index = Math.floor(x / barWidth);
    setPointed(index >= 0 && index < buckets.length ? index : null);
  };
  const all = buckets.reduce((sum, bucket) => sum + total(bucket), 0);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>Per {shownDuration(bucketMs)}</h3>
        <p class="chart-legend">
          {pointed === undefined
            ? verdicts.map((verdict) => (
                <span key={verdict} class="legend-item">
                  <VerdictIcon verdict={verdict} /> {capitalized(verdict)}
                </span>
              ))
            : `${bucketTime(pointed.at, chart)}: ${reading(pointed)}`}
        </p>
      </figcaption>
      <div
        ref={element}
        class="chart-place"
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointed(null)}
        onClick={() => pointed !== undefined && total(pointed) > 0 && filterTo(pointed.at, chart)}
      >
        {width > 0 && (
          <svg
            role="img"
            aria-label={`${plural(all, 'delivery', 'deliveries')} over time by verdict; the table below has the numbers`}
            width={width}
            height={frame.height}
          >
            {pointed !== undefined && (
              <rect class="pointed" x={xOf(pointed.at)} y={frame.top} width={barWidth} height={plotHeight} />
            )}
            <g class="axis">
              {ticks.map((tick) => (
                <g key={tick}>
                  <line x1={frame.left} x2={width} y1={yOf(tick / most)} y2={yOf(tick / most)} />
                  <text x={frame.left - 8} y={yOf(tick / most)} dy="0.32em" text-anchor="end">
                    {shownCount(tick)}
                  </text>
                </g>
              ))}
            </g>
            {buckets.map((bucket) => (
              <Bar key={bucket.at} bucket={bucket} most={most} x={xOf(bucket.at)} width={barWidth} />
            ))}
            <g class="axis">
              {timeTicks(since, until, plot).map(({ at, text }) => (
                <g key={at}>
                  <line x1={xOf(at)} x2={xOf(at)} y1={yOf(0)} y2={yOf(0) + 4} />
                  {xOf(at) + 20 <= width && (
                    <text x={xOf(at)} y={frame.height - 4} text-anchor="middle">
                      {text}
                    </text>
                  )}
                </g>
              ))}
            </g>
          </svg>
        )}
      </div>
      <details>
        <summary>As a table</summary>
        <BucketTable chart={chart} />
      </details>
    </figure>
  );
}

interface BarProps {
  readonly bucket: WireBucket;
  readonly most: number;
  readonly x: number;
  readonly width: number;
}

function Bar({ bucket, most, x, width }: BarProps): VNode {
  let below = 0;
  const gap = width > 4 ? 2 : 0.5;
  return (
    <g>
      {verdicts.map((verdict) => {
        const bottom = yOf(below / most);
        below += bucket[verdict];
        const top = yOf(below / most);
        return (
          bucket[verdict] > 0 && (
            <rect
              key={verdict}
              class={`bar is-${verdict}`}
              x={x + gap / 2}
              width={Math.max(0.5, width - gap)}
              y={top}
              height={Math.max(0.5, bottom - top)}
            />
          )
        );
      })}
    </g>
  );
}

const reading = (bucket: WireBucket): string =>
  verdicts
    .filter((verdict) => bucket[verdict] > 0)
    .map((verdict) => `${shownCount(bucket[verdict])} ${verdict}`)
    .join(', ') || 'none';

/** The list shows what a bar stands for, in place of the chart where there is no room for both. */
const filterTo = (at: number, { bucketMs }: WireChart): void =>
  goFilter(
    { ...listFilter.value, last: null, since: at, until: at + bucketMs },
    besideEachOther.matches ? route.value : { view: 'list' },
  );

/** The width of an element, px; the chart is drawn in pixels, so that texts and lines keep their size. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const resized = new ResizeObserver(() => setWidth(Math.floor(current.clientWidth)));
    resized.observe(current);
    return () => resized.disconnect();
  }, [element]);
  return width;
}

const BucketTable = ({ chart }: { chart: WireChart }): VNode => (
  <div class="table-frame" tabIndex={0} role="region" aria-label="Deliveries over time as a table">
    <table class="numbers">
      <thead>
        <tr>
          <th scope="col">From</th>
          {verdicts.map((verdict) => (
            <th key={verdict} scope="col">
              {capitalized(verdict)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {chart.buckets
          .filter((bucket) => total(bucket) > 0)
          .map((bucket) => (
            <tr key={bucket.at}>
              <th scope="row">
                <Button class="link" onClick={() => filterTo(bucket.at, chart)}>
                  {bucketTime(bucket.at, chart)}
                </Button>
              </th>
              {verdicts.map((verdict) => (
                <td key={verdict}>{shownCount(bucket[verdict])}</td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  </div>
);

const bucketTime = (at: number, { since, until }: WireChart): string =>
  (until - since > 1.5 * 86_400_000 ? dayAndTime : timeOfDay).format(at);

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { WireBucket, WireCharts } from '../../wire.ts';

interface TimeChartProps {
  readonly title: string;
  /** What the chart shows, in one sentence, for those who do not see it. */
  readonly summary: string;
  readonly charts: WireCharts;
  readonly legend: ComponentChildren;
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
  /** Of a bucket under the pointer, in words. */
  readonly reading: (bucket: WireBucket) => string;
  readonly draw: (width: number) => ComponentChildren;
  readonly children: ComponentChildren;
}

/** The frame of a chart over time: title, scales, what is under the pointer, and the numbers as a table. */
export function TimeChart(props: TimeChartProps): VNode {
  const { title, summary, charts, legend, ticks, reading, draw, children } = props;
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const [pointed, setPointed] = useState<number | null>(null);
  const id = useId();
  const { buckets } = charts;
  const bucket = pointed === null ? undefined : buckets[pointed];
  const onPointerMove = (event: PointerEvent): void => {
    const x = event.clientX - (element.current?.getBoundingClientRect().left ?? 0) - frame.left;
    const index = Math.floor((x / (width - frame.left)) * buckets.length);
    setPointed(index >= 0 && index < buckets.length ? index : null);
  };
  const place = bucketPlace(pointed ?? 0, buckets.length, width);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>{title}</h3>
        <p class="chart-legend">
          {bucket === undefined ? legend : `${bucketTime(bucket.at, charts)}: ${reading(bucket)}`}
        </p>
      </figcaption>
      <div
        ref={element}
        class="chart-place"
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointed(null)}
      >
        {width > 0 && (
          <svg role="img" aria-label={summary} width={width} height={frame.height}>
            {bucket !== undefined && (
              <rect
                class="pointed"
                x={place.x}
                width={place.width}
                y={frame.top}
                height={frame.height - frame.top - frame.bottom}
              />
            )}
            <ScaleLines width={width} ticks={ticks} />
            {draw(width)}
            <TimeAxis charts={charts} width={width} />
          </svg>
        )}
      </div>
      <details>
        <summary>As a table</summary>
        <div class="table-frame" tabIndex={0} role="region" aria-label={`${title} as a table`}>
          {children}
        </div>
      </details>
    </figure>
  );
}

/** Of charts over time; px. `left` is for the scale, `bottom` for the times. */
const frame = { height: 180, left: 56, top: 8, bottom: 24 } as const;

const plotHeight = frame.height - frame.top - frame.bottom;

/** Of a share of the scale, 0 at the bottom. */
export const yOf = (share: number): number => frame.top + plotHeight * (1 - share);

/** The left edge of a bucket and its width. */
export function bucketPlace(index: number, count: number, width: number): { x: number; width: number } {
  const each = (width - frame.left) / Math.max(count, 1);
  return { x: frame.left + index * each, width: each };
}

/** The width of an element, px; charts are drawn in pixels, so that texts and lines keep their size. */
function useWidth(element: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return undefined;
    const measure = (): void => setWidth(Math.floor(current.clientWidth));
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(current);
    return () => resized.disconnect();
  }, [element]);
  return width;
}

interface ScaleLinesProps {
  readonly width: number;
  readonly ticks: readonly { readonly share: number; readonly text: string }[];
}

function ScaleLines({ width, ticks }: ScaleLinesProps): VNode {
  return (
    <g class="axis">
      {ticks.map(({ share, text }) => (
        <g key={text}>
          <line x1={frame.left} x2={width} y1={yOf(share)} y2={yOf(share)} />
          <text x={frame.left - 8} y={yOf(share)} dy="0.32em" text-anchor="end">
            {text}
          </text>
        </g>
      ))}
    </g>
  );
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayMs = 86_400_000;

export const bucketTime = (at: number, charts: WireCharts): string =>
  charts.until - charts.since > 1.5 * dayMs
    ? `${day.format(at)}, ${timeOfDay.format(at)}`
    : timeOfDay.format(at);

/** Times below a chart, as many as have room. */
function TimeAxis({ charts, width }: { charts: WireCharts; width: number }): VNode {
  const { since, until } = charts;
  const isLong = until - since > 1.5 * dayMs;
  const isOverMidnight = new Date(since).toDateString() !== new Date(until).toDateString();
  // The first of a day and a night says which day it is, since the last one may be of the same time of day.
  const text = (at: number): string =>
    isLong
      ? day.format(at)
      : at === since && isOverMidnight
        ? `${day.format(at)}, ${timeOfDay.format(at)}`
        : timeOfDay.format(at);
  const count = Math.max(2, Math.min(6, Math.floor((width - frame.left) / 90)));
  return (
    <g class="axis">
      {Array.from({ length: count }, (_, i) => {
        const share = i / (count - 1);
        const anchor = i === 0 ? 'start' : i === count - 1 ? 'end' : 'middle';
        return (
          <text
            key={i}
            x={frame.left + share * (width - frame.left)}
            y={frame.height - 4}
            text-anchor={anchor}
          >
            {text(since + share * (until - since))}
          </text>
        );
      })}
    </g>
  );
}

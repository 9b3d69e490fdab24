import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { WireBucket, WireCharts } from '../../wire.ts';
import { Button } from '../elements.tsx';
import { besideEachOther } from '../state/delivery-actions.ts';
import { goFilter, listFilter, route } from '../state/route.ts';

interface Tick {
  /** Of the scale, 0 at the bottom. */
  readonly share: number;
  readonly text: string;
}

/** The left edge of a bucket and its width; px. */
export interface Place {
  readonly x: number;
  readonly width: number;
}

interface TimeChartProps<Bucket extends WireBucket> {
  readonly title: string;
  /** What the chart shows, in one sentence, for those who do not see it. */
  readonly summary: string;
  readonly charts: WireCharts;
  readonly legend: readonly (readonly [mark: VNode, name: string])[];
  readonly ticks: readonly Tick[];
  /** The buckets of the charts, null where there is nothing to show. */
  readonly shown: readonly (Bucket | null)[];
  /** Of a bucket under the pointer, in words. */
  readonly reading: (bucket: Bucket) => string;
  /** Of the table beside the time. */
  readonly columns: readonly (readonly [name: string, text: (bucket: Bucket) => string])[];
  readonly draw: (bucket: Bucket, place: Place) => ComponentChildren;
}

/** A chart over time: title, scales, bars, what is under the pointer, and the numbers as a table. */
export function TimeChart<Bucket extends WireBucket>(props: TimeChartProps<Bucket>): VNode {
  const { title, summary, charts, legend, ticks, shown, reading, draw } = props;
  const element = useRef<HTMLDivElement>(null);
  const width = useWidth(element);
  const [pointed, setPointed] = useState<number | null>(null);
  const { buckets } = charts;
  const bucketWidth = (width - frame.left) / Math.max(buckets.length, 1);
  const placeOf = (index: number): Place => ({ x: frame.left + index * bucketWidth, width: bucketWidth });
  const onPointerMove = (event: PointerEvent): void => {
    const x = event.clientX - (element.current?.getBoundingClientRect().left ?? 0) - frame.left;
    const index = Math.floor((x / (width - frame.left)) * buckets.length);
    setPointed(index >= 0 && index < buckets.length ? index : null);
  };
  const pointedAt = pointed === null ? undefined : buckets[pointed]?.at;
  const bucket = shown[pointed ?? 0] ?? null;
  const caption = (
    <>
      {pointedAt !== undefined &&
        `${bucketTime(pointedAt, charts)}: ${bucket === null ? 'none' : reading(bucket)}`}
      {legend.map(([mark, name]) => (
        <span key={name} class="legend-item" hidden={pointedAt !== undefined}>
          {mark} {name}
        </span>
      ))}
    </>
  );
  return (
    <ChartFigure title={title} legend={caption}>
      <div
        ref={element}
        class="chart-place"
        onPointerMove={onPointerMove}
        onClick={() => pointedAt !== undefined && bucket !== null && filterTo(pointedAt, charts)}
        onPointerLeave={() => setPointed(null)}
      >
        {width > 0 && (
          <svg
            role="img"
            aria-label={summary}
            width={width}
            height={frame.height}
            viewBox={`0 0 ${width} ${frame.height}`}
          >
            {pointedAt !== undefined && (
              <rect class="pointed" {...placeOf(pointed ?? 0)} y={frame.top} height={plotHeight} />
            )}
            <ScaleLines width={width} ticks={ticks} />
            {shown.map((one, i) => one !== null && <g key={one.at}>{draw(one, placeOf(i))}</g>)}
            <TimeAxis charts={charts} width={width} />
          </svg>
        )}
      </div>
      <details>
        <summary>As a table</summary>
        <div class="table-frame" tabIndex={0} role="region" aria-label={`${title} as a table`}>
          <BucketTable {...props} />
        </div>
      </details>
    </ChartFigure>
  );
}

/** The list shows what a bar stands for, in place of the charts where there is no room for both. */
const filterTo = (at: number, { bucketMs }: WireCharts): void =>
  goFilter(
    { ...listFilter.value, last: null, since: at, until: at + bucketMs },
    besideEachOther.matches ? route.value : { view: 'list' },
  );

interface ChartFigureProps {
  readonly title: string;
  readonly legend?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A chart below its title. */
export function ChartFigure({ title, legend, children }: ChartFigureProps): VNode {
  const id = useId();
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>{title}</h3>
        {legend !== undefined && <p class="chart-legend">{legend}</p>}
      </figcaption>
      {children}
    </figure>
  );
}

/** Of charts over time; px. `left` is for the scale, `bottom` for the times. */
const frame = { height: 180, left: 56, top: 8, bottom: 24 } as const;

const plotHeight = frame.height - frame.top - frame.bottom;

/** Of a share of the scale, 0 at the bottom. */
export const yOf = (share: number): number => frame.top + plotHeight * (1 - share);

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

function ScaleLines({ width, ticks }: { width: number; ticks: readonly Tick[] }): VNode {
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

type BucketTableProps<Bucket extends WireBucket> = Pick<
  TimeChartProps<Bucket>,
  'charts' | 'columns' | 'shown'
>;

function BucketTable<Bucket extends WireBucket>(props: BucketTableProps<Bucket>): VNode {
  const { charts, columns, shown } = props;
  return (
    <table class="numbers">
      <thead>
        <tr>
          {['From', ...columns.map(([name]) => name)].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown
          .filter((bucket) => bucket !== null)
          .map((bucket) => (
            <tr key={bucket.at}>
              <th scope="row">
                <Button class="link" onClick={() => filterTo(bucket.at, charts)}>
                  {bucketTime(bucket.at, charts)}
                </Button>
              </th>
              {columns.map(([name, text]) => (
                <td key={name}>{text(bucket)}</td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  );
}

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayAndTime = (at: number): string => `${day.format(at)}, ${timeOfDay.format(at)}`;

const isOverDays = ({ since, until }: WireCharts): boolean => until - since > 1.5 * 86_400_000;

const bucketTime = (at: number, charts: WireCharts): string =>
  isOverDays(charts) ? dayAndTime(at) : timeOfDay.format(at);

const hour = 3_600_000;

/** Between two ticks of a time axis. */
const steps = [
  hour / 60,
  hour / 30,
  hour / 12,
  hour / 6,
  hour / 2,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  24 * hour,
  48 * hour,
  120 * hour,
  240 * hour,
];

/** Ticks at round times, as many as have room, each where its time is. */
function TimeAxis({ charts, width }: { charts: WireCharts; width: number }): VNode {
  const { since, until } = charts;
  const plot = width - frame.left;
  const step = steps.find((one) => ((until - since) / one) * 76 <= plot) ?? 240 * hour;
  const times: number[] = [];
  const date = new Date(since);
  date.setHours(0, 0, 0, 0);
  // Where the clock is changed a day is not of 24 hours.
  while (date.getTime() < until) {
    if (date.getTime() >= since) times.push(date.getTime());
    if (step >= 24 * hour) date.setDate(date.getDate() + step / (24 * hour));
    else date.setTime(date.getTime() + step);
  }
  const isDay = (at: number): boolean =>
    step >= 24 * hour || new Date(at).getHours() + new Date(at).getMinutes() === 0;
  return (
    <g class="axis">
      {times.map((at) => {
        const x = frame.left + ((at - since) / (until - since)) * plot;
        return (
          <g key={at}>
            <line x1={x} x2={x} y1={frame.top + plotHeight} y2={frame.top + plotHeight + 4} />
            {x + 20 <= width && (
              <text x={x} y={frame.height - 4} text-anchor="middle">
                {(isDay(at) ? day : timeOfDay).format(at)}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

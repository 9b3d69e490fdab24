import type { ComponentChildren, VNode } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { WireBucket, WireCharts } from '../../wire.ts';
import { Button } from '../elements.tsx';
import { useModel } from '../state/page-model.ts';
import { besideEachOther, saveBlob } from '../state/delivery-actions.ts';
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
  const unknown =
    (((charts.unknownBefore ?? charts.since) - charts.since) / (charts.until - charts.since)) *
    (width - frame.left);
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
            {unknown > 0 && (
              <rect class="unknown" x={frame.left} y={frame.top} width={unknown} height={plotHeight}>
                <title>Not known: what the inbox dropped was not counted then</title>
              </rect>
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
        {legend !== undefined && (
          <>
            <p class="chart-legend">{legend}</p>
            <SaveChart title={title} />
          </>
        )}
      </figcaption>
      {children}
    </figure>
  );
}

function SaveChart({ title }: { title: string }): VNode {
  const model = useModel();
  const save = (figure: Element | null, form: 'svg' | 'png'): void => {
    const failed = (): void => model.announcer.show('This browser cannot save the chart.');
    if (figure !== null) saveChart(figure, form).catch(failed);
  };
  return (
    <span class="save-chart">
      {(['svg', 'png'] as const).map((form) => (
        <Button
          key={form}
          class="link"
          aria-label={`Save ${title} as ${form.toUpperCase()}`}
          onClick={({ currentTarget }) => save(currentTarget.closest('figure'), form)}
        >
          {form.toUpperCase()}
        </Button>
      ))}
    </span>
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

/** What the style sheet says of the parts of a chart: a file of its own has none. */
const inlined = ['fill', 'opacity', 'stroke', 'font-size'];
const parts = 'rect, line, text';

/** Around the chart, with room for a title and legend above it; px. */
const edge = 16;
const titleHeight = 28;
const lineHeight = 20;
const legendWidth = 96;

/** The chart of a figure, with its title and legend, as it is drawn now. */
async function saveChart(figure: Element, form: 'svg' | 'png'): Promise<void> {
  const drawn = figure.querySelector('.chart-place svg');
  if (drawn === null) return;
  const title = figure.querySelector('h3')?.textContent ?? '';
  const { width, height, text } = chartFile(drawn, title, [...figure.querySelectorAll('.legend-item')]);
  const svg = new Blob([text], { type: 'image/svg+xml' });
  const name = `${title.toLowerCase().replaceAll(/\W+/g, '-')}.${form}`;
  saveBlob(form === 'svg' ? svg : await pngOf(svg, width, height), name);
}

function chartFile(
  drawn: Element,
  title: string,
  legend: readonly Element[],
): { readonly text: string; readonly width: number; readonly height: number } {
  const inner = drawn.getBoundingClientRect();
  const perLine = Math.max(1, Math.floor(inner.width / legendWidth));
  const above = titleHeight + Math.ceil(legend.length / perLine) * lineHeight;
  const width = Math.ceil(inner.width) + 2 * edge;
  const height = Math.ceil(inner.height) + above + 2 * edge;
  const file = drawn.cloneNode(true) as Element;
  const styled = drawn.querySelectorAll(parts);
  for (const [i, copy] of file.querySelectorAll(parts).entries()) {
    const style = getComputedStyle(styled[i] ?? drawn);
    for (const name of inlined) copy.setAttribute(name, style.getPropertyValue(name));
    if (copy.classList.contains('pointed')) copy.remove();
  }
  const { color, backgroundColor, fontFamily } = getComputedStyle(drawn.closest('figure') ?? drawn);
  const [left, top] = [-edge, -above - edge];
  file.prepend(
    element('rect', { x: left, y: top, width, height, fill: backgroundColor }),
    element('text', { x: 0, y: top + edge + 14, 'font-size': 15, 'font-weight': 600, fill: color }, title),
    ...legend.flatMap((item, i) => {
      const x = (i % perLine) * legendWidth;
      const y = top + edge + titleHeight + Math.floor(i / perLine) * lineHeight;
      const fill = getComputedStyle(item.firstElementChild ?? item).getPropertyValue('--bar');
      return [
        element('rect', { x, y, width: 10, height: 10, rx: 2, fill }),
        element('text', { x: x + 16, y: y + 9, 'font-size': 12, fill: color }, item.textContent.trim()),
      ];
    }),
  );
  const frame = { 'font-family': fontFamily, width, height, viewBox: `${left} ${top} ${width} ${height}` };
  for (const [name, value] of Object.entries(frame)) file.setAttribute(name, String(value));
  return { text: new XMLSerializer().serializeToString(file), width, height };
}

function element(name: string, attributes: Readonly<Record<string, string | number>>, text = ''): Element {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  made.textContent = text;
  return made;
}

/** Two pixels for each one of the page: for slides and paper. */
async function pngOf(svg: Blob, width: number, height: number): Promise<Blob> {
  const image = new Image();
  image.src = URL.createObjectURL(svg);
  try {
    await image.decode();
    const canvas = new OffscreenCanvas(2 * width, 2 * height);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await canvas.convertToBlob();
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

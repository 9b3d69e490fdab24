import type { ComponentChildren, VNode } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';
import type { WireBucket, WireCharts } from '../../wire.ts';
import { bucketPlace, frame } from './chart-frame.ts';
import { useWidth } from './chart-width.ts';
import { ScaleLines } from './scale-lines.tsx';
import { bucketTime, TimeAxis } from './time-axis.tsx';

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

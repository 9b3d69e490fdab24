import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { WireBucket, WireCharts } from '../../wire.ts';
import { shownDuration } from '../text/shown-time.ts';
import { bucketPlace, yOf } from './chart-frame.ts';
import { delayPlace, delayTicks } from './scales.ts';
import { bucketTime } from './time-axis.tsx';
import { TimeChart } from './time-chart.tsx';

interface MeasuredBucket extends WireBucket {
  readonly delayP50: number;
  readonly delayMax: number;
}

const isMeasured = (bucket: WireBucket): bucket is MeasuredBucket =>
  bucket.delayP50 !== null && bucket.delayMax !== null;

const title = 'Delay from creation to first delivery';

/** From a lead's creation to its first delivery: median and greatest, on a logarithmic scale. */
export function DelayChart({ charts }: { charts: WireCharts }): VNode {
  const { buckets } = charts;
  const measured = buckets.filter(isMeasured);
  if (measured.length === 0) return <NoDelay />;
  const ticks = delayTicks(
    Math.max(1, Math.min(...measured.map(({ delayP50 }) => delayP50))),
    Math.max(1, ...measured.map(({ delayMax }) => delayMax)),
  );
  return (
    <TimeChart
      title={title}
      summary={summaryOf(measured)}
      charts={charts}
      legend={
        <>
          <span class="legend-item">
            <span class="swatch is-median" /> Median
          </span>
          <span class="legend-item">
            <span class="swatch is-greatest" /> Greatest
          </span>
        </>
      }
      ticks={ticks.map((tick) => ({ share: delayPlace(tick, ticks), text: shownDuration(tick) }))}
      reading={(bucket) =>
        isMeasured(bucket)
          ? `median ${shownDuration(bucket.delayP50)}, greatest ${shownDuration(bucket.delayMax)}`
          : 'none'
      }
      draw={(width) =>
        buckets.map((bucket, i) =>
          isMeasured(bucket) ? (
            <Range key={bucket.at} bucket={bucket} ticks={ticks} {...bucketPlace(i, buckets.length, width)} />
          ) : null,
        )
      }
    >
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">Median</th>
            <th scope="col">Greatest</th>
          </tr>
        </thead>
        <tbody>
          {measured.map(({ at, delayP50, delayMax }) => (
            <tr key={at}>
              <th scope="row">{bucketTime(at, charts)}</th>
              <td>{shownDuration(delayP50)}</td>
              <td>{shownDuration(delayMax)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TimeChart>
  );
}

function NoDelay(): VNode {
  const id = useId();
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>{title}</h3>
      </figcaption>
      <p class="empty-body">No lead that says when it was created came in this time.</p>
    </figure>
  );
}

function summaryOf(measured: readonly MeasuredBucket[]): string {
  const greatest = Math.max(...measured.map(({ delayMax }) => delayMax));
  return `Median and greatest delay over time; the greatest is ${shownDuration(greatest)}; the table below has the numbers`;
}

interface RangeProps {
  readonly bucket: MeasuredBucket;
  readonly ticks: readonly number[];
  readonly x: number;
  readonly width: number;
}

/** A bar from the median to the greatest, with a mark at the median. */
function Range({ bucket, ticks, x, width }: RangeProps): VNode {
  const median = yOf(delayPlace(bucket.delayP50, ticks));
  const greatest = yOf(delayPlace(bucket.delayMax, ticks));
  const thin = Math.max(1, Math.min(6, width - 2));
  const from = x + (width - thin) / 2;
  return (
    <g>
      <rect
        class="bar is-greatest"
        x={from}
        width={thin}
        y={greatest}
        height={Math.max(1, median - greatest)}
      />
      <rect class="bar is-median" x={x + 0.5} width={Math.max(1, width - 1)} y={median - 1.5} height={3} />
    </g>
  );
}

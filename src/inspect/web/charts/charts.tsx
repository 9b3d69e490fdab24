import type { VNode } from 'preact';
import { verdicts, type WireBucket, type WireCharts } from '../../wire.ts';
import { capitalized, plural, shownCount, shownDuration } from '../text/format.ts';
import { VerdictIcon } from '../text/verdict.tsx';
import { countTicks, delayPlace, delayTicks } from './scales.ts';
import { ChartFigure, type Place, TimeChart, yOf } from './time-chart.tsx';

const total = (bucket: WireBucket): number => verdicts.reduce((sum, verdict) => sum + bucket[verdict], 0);

/** Deliveries by verdict, stacked. */
export function RateChart({ charts }: { charts: WireCharts }): VNode {
  const { buckets, bucketMs } = charts;
  const ticks = countTicks(Math.max(...buckets.map(total), 0));
  const most = ticks.at(-1) ?? 1;
  const all = buckets.reduce((sum, bucket) => sum + total(bucket), 0);
  return (
    <TimeChart
      title={`Deliveries per ${shownDuration(bucketMs)}`}
      summary={`${plural(all, 'delivery', 'deliveries')} over time by verdict; the table below has the numbers`}
      charts={charts}
      legend={verdicts.map((verdict) => [<VerdictIcon verdict={verdict} />, capitalized(verdict)])}
      ticks={ticks.map((tick) => ({ share: tick / most, text: shownCount(tick) }))}
      shown={buckets.map((bucket) => (total(bucket) > 0 ? bucket : null))}
      reading={(bucket) =>
        verdicts
          .filter((verdict) => bucket[verdict] > 0)
          .map((verdict) => `${shownCount(bucket[verdict])} ${verdict}`)
          .join(', ')
      }
      columns={verdicts.map((verdict) => [
        capitalized(verdict),
        (bucket: WireBucket) => shownCount(bucket[verdict]),
      ])}
      draw={(bucket, place) => stackedBar(bucket, most, place)}
    />
  );
}

function stackedBar(bucket: WireBucket, most: number, { x, width }: Place): (VNode | null)[] {
  let below = 0;
  const gap = width > 4 ? 2 : 0.5;
  return verdicts.map((verdict) => {
    const from = below;
    below += bucket[verdict];
    if (bucket[verdict] === 0) return null;
    const [top, bottom] = [yOf(below / most), yOf(from / most)];
    return (
      <rect
        key={verdict}
        class={`bar is-${verdict}`}
        x={x + gap / 2}
        width={Math.max(0.5, width - gap)}
        y={top}
        height={Math.max(0.5, bottom - top)}
      />
    );
  });
}

interface MeasuredBucket extends WireBucket {
  readonly delayP50: number;
  readonly delayMax: number;
}

const isMeasured = (bucket: WireBucket): bucket is MeasuredBucket =>
  bucket.delayP50 !== null && bucket.delayMax !== null;

const delayTitle = 'Delay from creation to first delivery';

/** From a lead's creation to its first delivery: median and greatest, on a logarithmic scale. */
export function DelayChart({ charts }: { charts: WireCharts }): VNode {
  const measured = charts.buckets.filter(isMeasured);
  if (measured.length === 0) {
    return (
      <ChartFigure title={delayTitle}>
        <p class="empty-body">No lead came in this time of which it is known when it was created.</p>
      </ChartFigure>
    );
  }
  const least = Math.min(...measured.map(({ delayP50 }) => delayP50));
  const greatest = Math.max(...measured.map(({ delayMax }) => delayMax));
  const ticks = delayTicks(Math.max(1, least), Math.max(1, greatest));
  return (
    <TimeChart
      title={delayTitle}
      summary={`Median and greatest delay over time; the greatest is ${shownDuration(greatest)}; the table below has the numbers`}
      charts={charts}
      legend={[
        [<span class="swatch is-median" />, 'Median'],
        [<span class="swatch is-greatest" />, 'Greatest'],
      ]}
      ticks={ticks.map((tick) => ({ share: delayPlace(tick, ticks), text: shownDuration(tick) }))}
      shown={charts.buckets.map((bucket) => (isMeasured(bucket) ? bucket : null))}
      reading={({ delayP50, delayMax }) =>
        `median ${shownDuration(delayP50)}, greatest ${shownDuration(delayMax)}`
      }
      columns={[
        ['Median', ({ delayP50 }) => shownDuration(delayP50)],
        ['Greatest', ({ delayMax }) => shownDuration(delayMax)],
      ]}
      draw={(bucket, place) => delayBar(bucket, ticks, place)}
    />
  );
}

/** From the median to the greatest, with a mark at the median. */
function delayBar(bucket: MeasuredBucket, ticks: readonly number[], { x, width }: Place): VNode {
  const median = yOf(delayPlace(bucket.delayP50, ticks));
  const greatest = yOf(delayPlace(bucket.delayMax, ticks));
  const thin = Math.max(1, Math.min(6, width - 2));
  const from = x + (width - thin) / 2;
  const height = Math.max(1, median - greatest);
  return (
    <>
      <rect class="bar is-greatest" x={from} width={thin} y={greatest} height={height} />
      <rect class="bar is-median" x={x + 0.5} width={Math.max(1, width - 1)} y={median - 1.5} height={3} />
    </>
  );
}

/** Two digits; never 0 % or 100 % of what is not none or all. */
export function percent(share: number): string {
  const text = `${Number((share * 100).toPrecision(2))} %`;
  if (text === '100 %' && share < 1) return '> 99 %';
  return share > 0 && share < 0.001 ? '< 0.1 %' : text;
}

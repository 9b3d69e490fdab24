import type { VNode } from 'preact';
import type { WireBucket, WireCharts } from '../../wire.ts';
import { plural, shownCount } from '../text/shown-size.ts';
import { shownDuration } from '../text/shown-time.ts';
import { VerdictIcon, verdicts, verdictWords } from '../text/verdict.tsx';
import { bucketPlace, yOf } from './chart-frame.ts';
import { countTicks } from './scales.ts';
import { bucketTime } from './time-axis.tsx';
import { TimeChart } from './time-chart.tsx';

const total = (bucket: WireBucket): number => verdicts.reduce((sum, verdict) => sum + bucket[verdict], 0);

/** Deliveries by verdict, stacked. */
export function RateChart({ charts }: { charts: WireCharts }): VNode {
  const { buckets, bucketMs } = charts;
  const ticks = countTicks(Math.max(...buckets.map(total), 0));
  const most = ticks.at(-1) ?? 1;
  const all = buckets.reduce((sum, bucket) => sum + total(bucket), 0);
  const legend = verdicts.map((verdict) => (
    <span key={verdict} class="legend-item">
      <VerdictIcon verdict={verdict} /> {verdictWords[verdict]}
    </span>
  ));
  return (
    <TimeChart
      title={`Deliveries per ${shownDuration(bucketMs)}`}
      summary={`${plural(all, 'delivery', 'deliveries')} over time by verdict; the table below has the numbers`}
      charts={charts}
      legend={legend}
      ticks={ticks.map((tick) => ({ share: tick / most, text: shownCount(tick) }))}
      reading={(bucket) =>
        verdicts
          .filter((verdict) => bucket[verdict] > 0)
          .map((verdict) => `${shownCount(bucket[verdict])} ${verdict}`)
          .join(', ') || 'none'
      }
      draw={(width) =>
        buckets.map((bucket, i) => (
          <Bar key={bucket.at} bucket={bucket} most={most} {...bucketPlace(i, buckets.length, width)} />
        ))
      }
    >
      <table class="numbers">
        <thead>
          <tr>
            <th scope="col">From</th>
            {verdicts.map((verdict) => (
              <th key={verdict} scope="col">
                {verdictWords[verdict]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets
            .filter((bucket) => total(bucket) > 0)
            .map((bucket) => (
              <tr key={bucket.at}>
                <th scope="row">{bucketTime(bucket.at, charts)}</th>
                {verdicts.map((verdict) => (
                  <td key={verdict}>{shownCount(bucket[verdict])}</td>
                ))}
              </tr>
            ))}
        </tbody>
      </table>
    </TimeChart>
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
      })}
    </g>
  );
}

import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { WireBucket, WireCharts } from '../../wire.ts';
import { plural, shownCount, shownDuration } from '../text/format.ts';
import { VerdictIcon, verdicts, verdictWords } from '../text/verdict.tsx';
import { countTicks, delayPlace, delayTicks } from './scales.ts';
import { bucketPlace, bucketTime, TimeChart, yOf } from './time-chart.tsx';

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

/** Of accepted leads: how many deliveries each took. A list is its own text alternative. */
export function AttemptsChart({ attempts }: { attempts: readonly number[] }): VNode {
  const id = useId();
  const all = attempts.reduce((sum, count) => sum + count, 0);
  const most = Math.max(...attempts, 1);
  const isLast = (i: number): boolean => i > 0 && i === attempts.length - 1;
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption>
        <h3 id={id}>Attempts that an accepted lead took</h3>
      </figcaption>
      {all === 0 ? (
        <p class="empty-body">No lead was accepted in this time.</p>
      ) : (
        <ol class="attempt-bars">
          {attempts.map((count, i) => (
            <li key={i}>
              <span>{isLast(i) ? `${i + 1} or more` : plural(i + 1, 'attempt')}</span>
              <span class="attempt-bar" aria-hidden="true">
                {count > 0 && <span style={{ width: `${(100 * count) / most}%` }} />}
              </span>
              <span class="attempt-number">{shownCount(count)}</span>
              <span class="attempt-share">{percent(count / all)}</span>
            </li>
          ))}
        </ol>
      )}
    </figure>
  );
}

/** Two digits; never 0 % or 100 % of what is not none or all. */
export function percent(share: number): string {
  const text = `${Number((share * 100).toPrecision(2))} %`;
  if (text === '100 %' && share < 1) return '> 99 %';
  return share > 0 && share < 0.001 ? '< 0.1 %' : text;
}

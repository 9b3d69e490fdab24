import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { verdicts, type WireChart } from '../../wire.ts';
import { useLoaded } from '../api-client/use-loaded.ts';
import { RangeSelect } from '../elements.tsx';
import { ClosePane, PaneProblem } from '../panes/pane-parts.tsx';
import { useModel } from '../state/page-model.ts';
import { capitalized, shownCount } from '../text/format.ts';
import { VerdictIcon } from '../text/verdict.tsx';
import { TimeChart } from './time-chart.tsx';

/** Whole minutes: by them is counted what is not stored any more. */
const minute = 60_000;
const ranges = [
  { name: 'Last day, fitted', ms: null, bucketMs: minute },
  { name: 'Last hour', ms: 60 * minute, bucketMs: minute },
  { name: 'Last 24 hours', ms: 1440 * minute, bucketMs: 30 * minute },
  { name: 'Last 7 days', ms: 10_080 * minute, bucketMs: 180 * minute },
  { name: 'Last 30 days', ms: 43_200 * minute, bucketMs: 720 * minute },
] as const;
const readEveryMs = 5_000;

/** Deliveries over time by verdict. */
export function ChartPane(): VNode {
  const model = useModel();
  const [range, setRange] = useState(0);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setRound((old) => old + 1);
    }, readEveryMs);
    return () => clearInterval(timer);
  }, []);
  const { ms, bucketMs } = ranges[range] ?? ranges[0];
  const until = useMemo(() => endOfBucket(Date.now(), bucketMs), [bucketMs, round]);
  const window = ms === null ? '' : `&since=${until - ms}&buckets=${ms / bucketMs}`;
  const { answer: chart, problem } = useLoaded<WireChart>(
    model.api,
    `/api/chart?until=${until}${window}`,
    round,
  );
  if (problem !== null) return <PaneProblem problem={problem} title="The chart cannot be shown" />;
  return (
    <article class="chart-pane" aria-busy={chart === null}>
      <header class="chart-head">
        <h2>Deliveries over time</h2>
        <RangeSelect
          label="Time of the chart"
          ranges={ranges}
          value={String(range)}
          onChoose={(value) => setRange(Number(value))}
        />
        <ClosePane />
      </header>
      {chart !== null && (
        <>
          <ChartSummary chart={chart} />
          <TimeChart chart={chart} />
        </>
      )}
    </article>
  );
}

/** How many of each verdict, in the time of the chart. */
function ChartSummary({ chart: { buckets, removed } }: { chart: WireChart }): VNode {
  return (
    <dl class="chart-summary">
      {verdicts.map((verdict) => {
        const count = buckets.reduce((sum, bucket) => sum + bucket[verdict], 0);
        return (
          <div key={verdict}>
            <dt>
              <VerdictIcon verdict={verdict} /> {capitalized(verdict)}
            </dt>
            <dd>
              {shownCount(count)}
              {removed[verdict] > 0 && <span class="kept">{shownCount(count - removed[verdict])} kept</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

/** Buckets begin at round times of this place. */
function endOfBucket(time: number, bucketMs: number): number {
  const offset = new Date(time).getTimezoneOffset() * minute;
  return Math.floor((time - offset) / bucketMs + 1) * bucketMs + offset;
}

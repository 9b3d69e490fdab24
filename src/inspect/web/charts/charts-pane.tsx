import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { verdicts, type WireCharts } from '../../wire.ts';
import { RangeSelect } from '../elements.tsx';
import { ClosePane, PaneProblem } from '../panes/pane-parts.tsx';
import { useLoaded } from '../api-client/use-loaded.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { capitalized, plural, shownCount } from '../text/format.ts';
import { VerdictIcon } from '../text/verdict.tsx';
import { DelayChart, percent, RateChart } from './charts.tsx';

/** Whole minutes: by them is counted what is not stored any more. */
const minute = 60_000;
const ranges = [
  { name: 'Last day, fitted', ms: null, bucketMs: minute },
  { name: 'Last hour', ms: 60 * minute, bucketMs: minute },
  { name: 'Last 24 hours', ms: 1440 * minute, bucketMs: 30 * minute },
  { name: 'Last 7 days', ms: 10_080 * minute, bucketMs: 180 * minute },
  { name: 'Last 30 days', ms: 43_200 * minute, bucketMs: 720 * minute },
] as const;
const readEveryMs = 10_000;

export function ChartsPane(): VNode {
  const model = useModel();
  const [range, setRange] = useState(0);
  const version = useValue(model.version);
  const round = useEvery(readEveryMs);
  const { ms, bucketMs } = ranges[range] ?? ranges[0];
  const until = useMemo(() => endOfBucket(Date.now(), bucketMs), [bucketMs, version, round]);
  const window = ms === null ? '' : `&since=${until - ms}&buckets=${ms / bucketMs}`;
  const path = `/api/charts?until=${until}${window}`;
  const { answer: charts, problem } = useLoaded<WireCharts>(model.api, path, version);
  const delaysUnknown = charts?.buckets.reduce((sum, bucket) => sum + bucket.delaysUnknown, 0) ?? 0;
  if (problem !== null) return <PaneProblem problem={problem} title="The charts cannot be shown" />;
  return (
    <article class="charts" aria-busy={charts === null}>
      <header class="charts-head">
        <h2>Charts</h2>
        <RangeSelect
          label="Time of the charts"
          ranges={ranges}
          value={String(range)}
          onChoose={(value) => setRange(Number(value))}
        />
        <ClosePane />
      </header>
      {charts !== null && (
        <>
          <ChartSummary charts={charts} />
          <RateChart charts={charts} />
          <DelayChart charts={charts} />
          {delaysUnknown > 0 && (
            <p class="note">
              Not known: {plural(delaysUnknown, 'delay')} of leads that are not stored any more.
            </p>
          )}
        </>
      )}
    </article>
  );
}

/** How many of each verdict, in the time of the charts. */
function ChartSummary({ charts: { buckets, removed } }: { charts: WireCharts }): VNode {
  const counts = verdicts.map((verdict) => ({
    verdict,
    count: buckets.reduce((sum, bucket) => sum + bucket[verdict], 0),
  }));
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  return (
    <dl class="chart-summary">
      {counts.map(({ verdict, count }) => (
        <div key={verdict}>
          <dt>
            <VerdictIcon verdict={verdict} /> {capitalized(verdict)}
          </dt>
          <dd>
            {shownCount(count)} <span class="share">{all === 0 ? '' : percent(count / all)}</span>
            {removed[verdict] > 0 && <span class="kept">{shownCount(count - removed[verdict])} kept</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Buckets begin at round times of this place. */
function endOfBucket(time: number, bucketMs: number): number {
  const offset = new Date(time).getTimezoneOffset() * minute;
  return Math.floor((time - offset) / bucketMs + 1) * bucketMs + offset;
}

/** Counts up as time passes, while the tab is seen. */
function useEvery(ms: number): number {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setCount((old) => old + 1);
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return count;
}

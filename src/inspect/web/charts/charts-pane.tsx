import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { WireCharts } from '../../wire.ts';
import { RangeSelect } from '../elements.tsx';
import { ClosePane, PaneProblem } from '../panes/pane-parts.tsx';
import { useLoaded } from '../api-client/use-loaded.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { exactTime, shownCount } from '../text/format.ts';
import { VerdictIcon, verdicts, verdictWords } from '../text/verdict.tsx';
import { AttemptsChart, DelayChart, percent, RateChart } from './charts.tsx';

const ranges = [
  { name: 'Last hour', ms: 3_600_000 },
  { name: 'Last 24 hours', ms: 86_400_000 },
  { name: 'Last 7 days', ms: 604_800_000 },
  { name: 'Last 30 days', ms: 2_592_000_000 },
] as const;
const bucketCount = 60;
const readEveryMs = 10_000;

export function ChartsPane(): VNode {
  const model = useModel();
  const [range, setRange] = useState(1);
  const version = useValue(model.version);
  const round = useEvery(readEveryMs);
  const ms = ranges[range]?.ms ?? ranges[1].ms;
  const since = useMemo(() => Date.now() - ms, [ms, version, round]);
  const path = `/api/charts?since=${since}&buckets=${bucketCount}`;
  const { answer: charts, problem } = useLoaded<WireCharts>(model.api, path, version);
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
          {charts.cutAt !== null && (
            <p class="notice">
              Only the newest deliveries were counted: those since {exactTime(charts.cutAt)}.
            </p>
          )}
          <ChartSummary charts={charts} />
          <RateChart charts={charts} />
          <DelayChart charts={charts} />
          <AttemptsChart attempts={charts.attempts} />
        </>
      )}
    </article>
  );
}

/** How many of each verdict, in the time of the charts. */
function ChartSummary({ charts: { buckets } }: { charts: WireCharts }): VNode {
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
            <VerdictIcon verdict={verdict} /> {verdictWords[verdict]}
          </dt>
          <dd>
            {shownCount(count)} <span class="share">{all === 0 ? '' : percent(count / all)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
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

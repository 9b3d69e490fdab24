import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { WireCharts } from '../../wire.ts';
import { useLoaded } from '../server/loaded.ts';
import { ClosePane } from '../shell/close-pane.tsx';
import { PaneProblem } from '../shell/pane-problem.tsx';
import { useValue } from '../state/use-value.ts';
import { useModel } from '../state/page-model.ts';
import { exactTime } from '../text/shown-time.ts';
import { AttemptsChart } from './attempts-chart.tsx';
import { ChartSummary } from './chart-summary.tsx';
import { DelayChart } from './delay-chart.tsx';
import { RateChart } from './rate-chart.tsx';
import { useEvery } from './use-every.ts';

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
        <select
          aria-label="Time of the charts"
          value={String(range)}
          onChange={({ currentTarget }) => setRange(Number(currentTarget.value))}
        >
          {ranges.map(({ name }, i) => (
            <option key={name} value={String(i)}>
              {name}
            </option>
          ))}
        </select>
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

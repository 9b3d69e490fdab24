import type { VNode } from 'preact';
import type { WireCharts } from '../../wire.ts';
import { shownCount } from '../text/shown-size.ts';
import { VerdictIcon, verdicts, verdictWords } from '../text/verdict.tsx';
import { percent } from './attempts-chart.tsx';

/** How many of each verdict, in the time of the charts. */
export function ChartSummary({ charts: { buckets } }: { charts: WireCharts }): VNode {
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

import type { VNode } from 'preact';
import { verdicts, type WireBucket } from '../../wire.ts';
import type { PageModel } from '../state/page-model.ts';
import { minuteTime, shownCount, shownDuration } from '../text/format.ts';

const gap = 0.2;

export function Chart({ model }: { model: PageModel }): VNode {
  const { counts } = model;
  if (counts === null) return <figure class="chart" aria-busy="true" />;
  const { buckets, bucketMs, since } = counts;
  const until = since + buckets.length * bucketMs;
  const highest = Math.max(1, ...buckets.map(total));
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${buckets.length} ${highest}`}
        preserveAspectRatio="none"
        role="list"
        aria-label={`Deliveries in each ${shownDuration(bucketMs)}`}
      >
        {buckets.map((bucket, i) => (
          <g
            key={bucket.at}
            {...(total(bucket) > 0 && { role: 'listitem', 'aria-label': bucketText(bucket) })}
            onClick={() => model.filterBy({ last: null, since: bucket.at, until: bucket.at + bucketMs })}
          >
            <title>{bucketText(bucket)}</title>
            <rect class="slot" x={i} width="1" height={highest} />
            {bars(bucket).map(({ verdict, bottom, top }) => (
              <rect
                key={verdict}
                class={`bar is-${verdict}`}
                x={i + gap / 2}
                width={1 - gap}
                y={highest - top}
                height={top - bottom}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{minuteTime(since)}</span>
        <span>
          at most {shownCount(highest)} in {shownDuration(bucketMs)}
        </span>
        <span>{minuteTime(until)}</span>
      </figcaption>
    </figure>
  );
}

const total = (bucket: WireBucket): number => verdicts.reduce((sum, verdict) => sum + bucket[verdict], 0);

function bars(bucket: WireBucket) {
  let top = 0;
  return verdicts
    .filter((verdict) => bucket[verdict] > 0)
    .map((verdict) => ({ verdict, bottom: top, top: (top += bucket[verdict]) }));
}

const bucketText = (bucket: WireBucket): string => {
  const counts = verdicts.filter((verdict) => bucket[verdict] > 0);
  const text = counts.map((verdict) => `${shownCount(bucket[verdict])} ${verdict}`).join(', ');
  return `${minuteTime(bucket.at)}: ${text || 'none'}`;
};

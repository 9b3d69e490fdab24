import type { VNode } from 'preact';
import { verdicts, type WireBucket } from '../../wire.ts';
import type { PageModel } from '../state/page-model.ts';
import { countText, durationText, minuteTime } from '../text.ts';

const gapBetweenBars = 0.2;

export function Chart({ model }: { model: PageModel }): VNode {
  const { counts } = model;
  if (counts === null) return <figure class="chart" aria-busy="true" />;
  const { buckets, bucketMs, since } = counts;
  const until = since + buckets.length * bucketMs;
  const highest = Math.max(1, ...buckets.map((bucket) => total(bucket)));
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${buckets.length} ${highest}`}
        preserveAspectRatio="none"
        role="list"
        aria-label={`Deliveries in each ${durationText(bucketMs)}`}
      >
        {buckets.map((bucket, i) => (
          <g
            key={bucket.at}
            {...(total(bucket) > 0 && { role: 'listitem', 'aria-label': bucketText(bucket) })}
            onClick={() => model.filterBy({ last: null, since: bucket.at, until: bucket.at + bucketMs })}
          >
            <title>{bucketText(bucket)}</title>
            <rect class="slot" x={i} width="1" height={highest} />
            {stackedBars(bucket).map(({ verdict, bottom, height }) => (
              <rect
                key={verdict}
                class={`bar is-${verdict}`}
                x={i + gapBetweenBars / 2}
                width={1 - gapBetweenBars}
                y={highest - bottom - height}
                height={height}
              />
            ))}
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{minuteTime(since)}</span>
        <span>
          at most {countText(highest)} in {durationText(bucketMs)}
        </span>
        <span>{minuteTime(until)}</span>
      </figcaption>
    </figure>
  );
}

const total = (bucket: WireBucket, counted: readonly (keyof typeof bucket)[] = verdicts): number =>
  counted.reduce((sum, name) => sum + bucket[name], 0);

/** The bars of a bucket, each on top of those before it. */
const stackedBars = (bucket: WireBucket) =>
  verdicts
    .map((verdict, i) => ({ verdict, bottom: total(bucket, verdicts.slice(0, i)), height: bucket[verdict] }))
    .filter(({ height }) => height > 0);

const bucketText = (bucket: WireBucket): string => {
  const counts = verdicts.filter((verdict) => bucket[verdict] > 0);
  const text = counts.map((verdict) => `${countText(bucket[verdict])} ${verdict}`).join(', ');
  return `${minuteTime(bucket.at)}: ${text || 'none'}`;
};

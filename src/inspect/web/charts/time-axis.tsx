import type { VNode } from 'preact';
import type { WireCharts } from '../../wire.ts';
import { frame } from './chart-frame.ts';

const timeOfDay = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayMs = 86_400_000;

export const bucketTime = (at: number, charts: WireCharts): string =>
  charts.until - charts.since > 1.5 * dayMs
    ? `${day.format(at)}, ${timeOfDay.format(at)}`
    : timeOfDay.format(at);

/** Times below a chart, as many as have room. */
export function TimeAxis({ charts, width }: { charts: WireCharts; width: number }): VNode {
  const { since, until } = charts;
  const isLong = until - since > 1.5 * dayMs;
  const isOverMidnight = new Date(since).toDateString() !== new Date(until).toDateString();
  // The first of a day and a night says which day it is, since the last one may be of the same time of day.
  const text = (at: number): string =>
    isLong
      ? day.format(at)
      : at === since && isOverMidnight
        ? `${day.format(at)}, ${timeOfDay.format(at)}`
        : timeOfDay.format(at);
  const count = Math.max(2, Math.min(6, Math.floor((width - frame.left) / 90)));
  return (
    <g class="axis">
      {Array.from({ length: count }, (_, i) => {
        const share = i / (count - 1);
        const anchor = i === 0 ? 'start' : i === count - 1 ? 'end' : 'middle';
        return (
          <text
            key={i}
            x={frame.left + share * (width - frame.left)}
            y={frame.height - 4}
            text-anchor={anchor}
          >
            {text(since + share * (until - since))}
          </text>
        );
      })}
    </g>
  );
}

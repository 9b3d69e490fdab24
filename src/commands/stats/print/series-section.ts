import { sparkline } from '../../../output/chart/sparkline.ts';
import { grouped } from '../../../output/terminal/progress.ts';
import { wrap } from '../../help/layout.ts';
import type { CountedWindows } from '../counted-windows.ts';
import type { BucketUnit, Series } from '../../../stats/time-buckets.ts';
import { barSection, type ChartStyle } from './bar-section.ts';

/** More buckets than that are a line, without a bar for each. */
const mostBars = 31;

/** Columns of a line over all buckets, on the widest terminal. */
const longestLine = 100;

/** Leads by time: a line over all of it, and a bar for each hour, day or week where they are few. */
export function seriesSection({ current, previous, buckets }: CountedWindows, style: ChartStyle): string[] {
  const { unit } = current.series;
  const lines = [
    ...lineOf(current.series, '', style),
    ...(previous === undefined ? [] : lineOf(previous.series, 'before: ', style)),
  ];
  if (buckets.length === 0 || buckets.length > mostBars) return lines;
  const title = unit === 'week' ? 'WEEK (UTC)' : `${unit.toUpperCase()} (UTC)`;
  const rows = buckets.map(({ start, ...counts }) => ({ label: bucketLabel(start, unit), ...counts }));
  return [
    ...lines,
    ...(lines.length > 0 ? [''] : []),
    ...barSection(title, 'LEADS', rows, current.leads.total, style),
  ];
}

function lineOf({ unit, buckets }: Series, prefix: string, { width, ascii, colours }: ChartStyle): string[] {
  const [first, second] = buckets;
  const last = buckets.at(-1);
  if (first === undefined || second === undefined || last === undefined) return [];
  const peak = buckets.reduce((most, one) => (one.count > most.count ? one : most), first);
  const line = sparkline(
    buckets.map(({ count }) => count),
    Math.min(width, longestLine),
    ascii,
  );
  const together = Math.ceil(buckets.length / Math.min(width, longestLine));
  const step = together > 1 ? `${together} ${unit}s a mark` : `by ${unit}`;
  const most =
    peak.count === 0
      ? 'none'
      : `most in one ${unit}: ${grouped(peak.count)}, ${bucketLabel(peak.start, unit)}`;
  const span = `${bucketLabel(first.start, unit)} to ${bucketLabel(last.start, unit)} UTC`;
  return [
    colours.cyan(line),
    ...wrap(`${prefix}${step}, ${span}; ${most}`, width).map((text) => colours.dim(text)),
  ];
}

/** `2026-01-31`, or with the hour. */
const bucketLabel = (start: number, unit: BucketUnit): string => {
  const iso = new Date(start).toISOString();
  return unit === 'hour' ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : iso.slice(0, 10);
};

import { renderFields } from '../../../output/table/fields.ts';
import { formatDuration } from '../../../time/duration.ts';
import type { ReceiptFigures } from '../../../stats/receipt-counts.ts';
import { barSection, type BarRow, type ChartStyle } from './bar-section.ts';
import { figureText } from './figure-text.ts';

/** Deliveries by verdict and reason, how late they came, how often, and the longest silence. */
export function receiptsSection(
  now: ReceiptFigures,
  before: ReceiptFigures | undefined,
  style: ChartStyle,
): string[] {
  const row = (label: string, of: (figures: ReceiptFigures) => number): BarRow => ({
    label,
    count: of(now),
    before: before === undefined ? undefined : of(before),
  });
  const verdicts = (['accepted', 'duplicate', 'pending', 'rejected'] as const)
    .map((verdict) => row(verdict, (figures) => figures[verdict]))
    .filter(({ label, count, before: earlier = 0 }) => label !== 'pending' || count + earlier > 0);
  const reasons = new Set([...now.byReason.keys(), ...(before?.byReason.keys() ?? [])]);
  const rejections = [...reasons]
    .map((reason) => row(reason, (figures) => figures.byReason.get(reason) ?? 0))
    .sort((a, b) => b.count - a.count);
  const fields = [...fieldsOf(now, ''), ...(before === undefined ? [] : fieldsOf(before, ' before'))];
  const width = style.cutsLabels ? style.width : undefined;
  return [
    ...barSection('DELIVERIES', 'COUNT', verdicts, now.received, style),
    ...(rejections.length === 0
      ? []
      : ['', ...barSection('REJECTED', 'COUNT', rejections, now.rejected, style)]),
    '',
    ...renderFields(fields, { width, name: style.colours.dim }).trimEnd().split('\n'),
  ];
}

function fieldsOf(figures: ReceiptFigures, suffix: string): (readonly [string, string])[] {
  const { delayMs, attemptsPerLead, longestGap, backfilled } = figures;
  const shares = Object.entries(delayMs).flatMap(([name, ms]: readonly [string, number | null]) =>
    ms === null ? [] : [`${name} ${formatDuration(ms)}`],
  );
  const since = longestGap && new Date(longestGap.start).toISOString().slice(0, 16).replace('T', ' ');
  const gap =
    longestGap === undefined
      ? 'unknown: nothing came'
      : `${formatDuration(longestGap.ms)}, from ${since ?? ''} UTC`;
  return [
    [`delay${suffix}`, shares.length === 0 ? 'none was measured' : `${shares.join('  ')} from creation`],
    [
      `attempts${suffix}`,
      attemptsPerLead === null ? 'none' : `${figureText(attemptsPerLead, 'number')} a lead`,
    ],
    [`longest gap${suffix}`, gap],
    ...(backfilled === 0 ? [] : [[`backfilled${suffix}`, figureText(backfilled, 'number')] as const]),
  ];
}

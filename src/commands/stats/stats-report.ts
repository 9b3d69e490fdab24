import { isContact, reducedValue, withoutContacts } from '../../report/reduce-personal-data.ts';
import { deliveryBars, mostReportRows, type Report, type Section } from '../../report/report.ts';
import { countText, minuteText } from '../../report/report-html.ts';
import type { CheckedExpectation } from '../../stats/expectations.ts';
import type { ReceiptFigures } from '../../stats/receipt-counts.ts';
import { noValue, otherValues } from '../../stats/value-counts.ts';
import { formatDuration } from '../../time/time-text.ts';
import { changeText, figureText } from './figure-text.ts';
import type { StatsOptions } from './options.ts';
import type { CountedWindows } from './plan.ts';
import { minute, windowText } from './print-table.ts';
import { rankedFacets, type RankedMatrix, rankedMatrix } from './ranked.ts';

/** What `stats` counted, as a report. */
export function statsReport(
  counted: CountedWindows,
  checked: readonly CheckedExpectation[],
  options: StatsOptions,
  madeAt: number,
): Report {
  const { zone = 'UTC', personalData } = options;
  const top = Math.min(options.top ?? 20, mostReportRows);
  const { current, previous, buckets } = counted;
  const { leads, receipts, series } = current;
  const shown = (key: string, value: string): string =>
    value === otherValues || value === noValue
      ? value
      : value === ''
        ? '""'
        : personalData
          ? value
          : reducedValue(key, value);
  const leadsFigure = {
    name: receipts === undefined ? 'Leads created' : 'Leads received',
    value: countText(leads.total),
    note:
      previous === undefined
        ? undefined
        : `${changeText(previous.leads.total, leads.total)}, before ${countText(previous.leads.total)}`,
  };
  const facets = rankedFacets(counted, top).filter(({ rows }) => rows.some(({ value }) => value !== noValue));
  const matrix = rankedMatrix(current, top, Math.min(top, 12));
  return {
    title: receipts === undefined ? 'Leads' : 'Leads and deliveries received',
    program: `leads stats ${LEADS_VERSION}`,
    madeAt,
    zone,
    personalData: personalData ? 'whole' : 'reduced',
    facts: [
      ['Time', windowText(current.window, zone)],
      ...(previous === undefined ? [] : [['Before', windowText(previous.window, zone)] as const]),
      ...filterTexts(options).map((text) => ['Filter', text] as const),
    ],
    sections: [
      { kind: 'figures', title: 'Figures', figures: [leadsFigure, ...receiptFigures(receipts, zone)] },
      ...(checked.length === 0 ? [] : [expectationTable(checked)]),
      {
        kind: 'time',
        title: `Leads by ${series.unit}`,
        stacks: [{ name: 'Leads', tone: 'other' }],
        buckets: buckets.map(({ start, count }) => ({
          label: minute(start, zone).slice(0, series.unit === 'hour' ? undefined : 10),
          counts: [count],
        })),
      },
      ...(receipts === undefined ? [] : deliverySections(receipts)),
      ...facets.map(({ key, rows }): Section => ({
        kind: 'bars',
        title: `By ${key}`,
        heads: [key, 'Leads'],
        total: leads.total,
        rows: rows.map(({ value, count, before }) => ({
          label: shown(key, value),
          count,
          note:
            previous === undefined ? undefined : `${changeText(before, count)}, before ${countText(before)}`,
          isRest: value === otherValues,
        })),
      })),
      ...(matrix === undefined || matrix.rows.length === 0 ? [] : [matrixTable(matrix, shown)]),
    ],
  };
}

function filterTexts({ status, category, where, personalData }: StatsOptions): readonly string[] {
  const reduced = ({ text, condition }: StatsOptions['where'][number]): string => {
    const path = condition.path.join('.');
    return isContact(path) ? `${path} …` : withoutContacts(text);
  };
  return [
    ...(status === undefined ? [] : [`status=${status}`]),
    ...category.map((name) => `category=${name}`),
    ...where.map((one) => (personalData ? one.text : reduced(one))),
  ];
}

function receiptFigures(receipts: ReceiptFigures | undefined, zone: string) {
  if (receipts === undefined) return [];
  const { received, delayMs, attemptsPerLead, longestGap, backfilled } = receipts;
  const delays = Object.entries(delayMs) as (readonly [string, number | null])[];
  return [
    { name: 'Deliveries', value: countText(received) },
    ...delays.flatMap(([name, ms]) =>
      ms === null ? [] : [{ name: `Delay ${name}`, value: formatDuration(ms) }],
    ),
    ...(attemptsPerLead === null
      ? []
      : [{ name: 'Attempts a lead', value: figureText(attemptsPerLead, 'number') }]),
    ...(longestGap === undefined
      ? []
      : [
          {
            name: 'Longest gap',
            value: formatDuration(longestGap.ms),
            note: `from ${minuteText(longestGap.start, zone)}`,
          },
        ]),
    ...(backfilled === 0 ? [] : [{ name: 'Backfilled', value: countText(backfilled) }]),
  ];
}

function deliverySections(receipts: ReceiptFigures): Section[] {
  const { received, accepted, duplicate, pending, rejected, other, byReason } = receipts;
  return [
    {
      kind: 'bars',
      title: 'Deliveries',
      heads: ['Verdict', 'Deliveries'],
      total: received,
      rows: [
        { label: 'accepted', count: accepted, tone: 'good' },
        { label: 'duplicate', count: duplicate, tone: 'plain' },
        { label: 'pending', count: pending, tone: 'doubtful' },
        { label: 'rejected', count: rejected, tone: 'bad' },
        ...(other === 0 ? [] : [{ label: 'other', count: other, tone: 'other' as const, isRest: true }]),
      ],
    },
    ...(byReason.size === 0 ? [] : [deliveryBars('Rejected', 'Reason', byReason, 'bad')]),
  ];
}

const expectationTable = (checked: readonly CheckedExpectation[]): Section => ({
  kind: 'table',
  title: 'What was expected',
  columns: [{ name: 'Expected' }, { name: 'Is', isNumber: true }, { name: '' }],
  rows: checked.map(({ expectation: { text, unit }, holds, isDoubtful, seen }) => [
    text,
    seen === undefined ? 'not measured' : figureText(seen, unit),
    isDoubtful
      ? { text: 'not known', tone: 'doubtful' }
      : holds
        ? { text: 'holds', tone: 'good' }
        : { text: 'does not hold', tone: 'bad' },
  ]),
});

const matrixTable = (
  { rowKey, columnKey, rows, columns, cells }: RankedMatrix,
  shown: (key: string, value: string) => string,
): Section => ({
  kind: 'table',
  title: `${rowKey} by ${columnKey}`,
  columns: [{ name: rowKey }, ...columns.map((value) => ({ name: shown(columnKey, value), isNumber: true }))],
  rows: rows.map((value, i) => [shown(rowKey, value), ...(cells[i] ?? []).map(countText)]),
});

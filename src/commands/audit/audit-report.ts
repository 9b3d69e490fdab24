import type { Audit } from '../../audit/audit.ts';
import {
  allClasses,
  type Finding,
  type FindingClass,
  problemClasses,
  unlistedClasses,
} from '../../audit/classify-lead.ts';
import { withoutContacts } from '../../report/reduce-personal-data.ts';
import { type Cell, mostReportRows, type Report, type Section, type Tone } from '../../report/report.ts';
import { countText, secondText, shareText } from '../../report/report-html.ts';
import { type SettledLeads, settledFindings } from './repair.ts';
import type { AuditSummary } from './output-schema.ts';
import { doubtsOf, horizonDoubt, meanings, rowOf, windowText } from './print.ts';

interface AuditReportOptions {
  readonly madeAt: number;
  readonly zone: string;
  readonly isOver: boolean;
  readonly keepsPersonalData: boolean;
}

const toneOf = (kind: FindingClass): Tone =>
  kind === 'missing' || kind === 'refused'
    ? 'bad'
    : problemClasses.some((one) => one === kind)
      ? 'doubtful'
      : 'plain';

/** What was compared and found, as a report. */
export async function auditReport(
  audit: Pick<Audit, 'findings' | 'counts' | 'listed' | 'isProven'>,
  summary: AuditSummary,
  settled: SettledLeads,
  { madeAt, zone, isOver, keepsPersonalData }: AuditReportOptions,
): Promise<Report> {
  const { pulled, received, matched, byClass, repaired, withoutId } = summary;
  const doubt = horizonDoubt(summary);
  const doubts = doubtsOf(audit);
  const whole =
    doubts.list === undefined
      ? 'No lead is missing'
      : 'No missing lead was found; the list may be incomplete';
  return {
    ...heading(isOver && doubt === undefined ? whole : 'The two sides are not equal', madeAt, zone),
    personalData: keepsPersonalData ? 'whole' : 'reduced',
    facts: [['Time', windowText(summary)]],
    notices: [doubt, doubts.list, doubts.different, doubts.extra].filter((text) => text !== undefined),
    sections: [
      {
        kind: 'figures',
        title: 'Figures',
        figures: [
          { name: 'Pulled', value: countText(pulled) },
          { name: 'Received', value: countText(received) },
          {
            name: 'On both sides',
            value: countText(matched),
            note: shareText(matched, pulled),
            tone: 'good',
          },
          ...(repaired === 0 ? [] : [{ name: 'Repaired', value: countText(repaired) }]),
          ...(withoutId === 0
            ? []
            : [{ name: 'Without an id', value: countText(withoutId), tone: 'doubtful' as const }]),
        ],
      },
      classesSection(byClass, pulled, received),
      await findingsTable(audit, settled, zone, keepsPersonalData),
    ],
  };
}

/** Takes the place of what an earlier run wrote: an audit that came to no end must not look like one that did. */
export const failedAuditReport = (why: string, madeAt: number, zone: string): Report => ({
  ...heading('The audit came to no end', madeAt, zone),
  facts: [],
  notices: [why],
  sections: [],
});

const heading = (title: string, madeAt: number, zone: string) => ({
  ...{ title, madeAt, zone },
  program: `leads audit ${LEADS_VERSION}`,
});

const classesSection = (byClass: AuditSummary['byClass'], pulled: number, received: number): Section => ({
  kind: 'bars',
  title: 'By class',
  heads: ['Class', 'Leads'],
  rows: allClasses.map((kind) => {
    const count = byClass[kind];
    const share = shareText(count ?? 0, unlistedClasses.some((one) => one === kind) ? received : pulled);
    const known = count === 0 || share === '' ? meanings[kind] : `${meanings[kind]}, ${share}`;
    return {
      label: kind,
      count: count ?? 0,
      note: count === null ? 'cannot be told' : known,
      tone: toneOf(kind),
    };
  }),
});

async function findingsTable(
  audit: Pick<Audit, 'findings'>,
  settled: SettledLeads,
  zone: string,
  isWhole: boolean,
): Promise<Section> {
  const rows: Cell[][] = [];
  let more = 0;
  const timeOf = (iso: string | null): string => {
    const at = iso === null ? NaN : Date.parse(iso);
    return Number.isNaN(at) ? (iso ?? '') : secondText(at, zone);
  };
  const shown = (text = ''): string => (isWhole ? text : withoutContacts(text));
  const row = (finding: Finding, state: string | undefined): Cell[] => {
    const [kind = '', id, , , remark] = rowOf(finding, state);
    const { createdAt, receivedAt } = finding;
    return [
      { text: kind, tone: toneOf(finding.class) },
      shown(id),
      timeOf(createdAt),
      timeOf(receivedAt),
      shown(remark),
    ];
  };
  for await (const { finding, state } of settledFindings(audit, settled, problemClasses)) {
    if (rows.length < mostReportRows) rows.push(row(finding, state));
    else more += 1;
  }
  return {
    kind: 'table',
    title: 'Findings',
    columns: ['Class', 'Lead', 'Created', 'Received', 'Remark'].map((name) => ({ name })),
    rows,
    note:
      rows.length === 0
        ? 'There is none.'
        : more === 0
          ? undefined
          : `${countText(more)} more are not listed.`,
  };
}

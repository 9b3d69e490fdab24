import { withoutContacts } from '../../report/reduce-personal-data.ts';
import { type Cell, deliveryBars, mostReportRows, type Report } from '../../report/report.ts';
import { countText, minuteText, secondText } from '../../report/report-html.ts';
import { readLine, type StatementHeader, type StatementLedger } from '../../statement/statement-format.ts';
import { startOfDays } from '../../time/zone.ts';

const headText = ({ size, root }: StatementLedger['since']): string =>
  `${countText(size)} leaves, root ${root}`;

/** A statement as a report for people, beside the file that can be verified; `texts` are its lines. */
export async function statementReport(
  header: StatementHeader,
  texts: AsyncIterable<readonly string[]>,
  madeAt: number,
): Promise<Report> {
  const { zone, by, counts, ledger, evidence = '', signer, salt, root } = header;
  const [since, until] = [Date.parse(header.since), Date.parse(header.until)];
  const days = new Map<number, number>();
  for (let at = since; at < until; at = startOfDays(at, 'day', zone, 1))
    days.set(startOfDays(at, 'day', zone), 0);
  const values = by.map((field) => ({ field, counts: new Map<string, number>() }));
  const rows: Cell[][] = [];
  let lines = 0;
  for await (const batch of texts) {
    for (const text of batch) {
      const line = readLine(text);
      // A lead of another period is in the file so that it can be told from a missing one.
      if (line === undefined || line.border !== undefined) continue;
      lines += 1;
      const day = startOfDays(line.at, 'day', zone);
      days.set(day, (days.get(day) ?? 0) + 1);
      for (const { field, counts: of } of values) {
        const value = withoutContacts(line[field] ?? '');
        of.set(value, (of.get(value) ?? 0) + 1);
      }
      if (rows.length < mostReportRows)
        rows.push([
          line.digest,
          secondText(line.at, zone),
          ...by.map((field) => withoutContacts(line[field] ?? '')),
        ]);
    }
  }
  const rejected = Object.entries(counts.rejected);
  return {
    title: ledger === undefined ? 'Statement of listed leads' : 'Statement of received leads',
    program: `leads statement ${LEADS_VERSION}`,
    madeAt,
    zone,
    facts: [
      ['Period', `from ${minuteText(since, zone)} to ${minuteText(until, zone)} ${zone}`],
      ['Signed by', signer],
      ['Salt', salt],
      ['Root of the lines', root],
      ...(ledger === undefined
        ? [['Listed by the service', `the whole list: ${evidence}`] as const]
        : ([
            ['Ledger', ledger.origin],
            ['Ledger before', headText(ledger.since)],
            ['Ledger at the end', headText(ledger.until)],
          ] as const)),
    ],
    notices: ['This page proves nothing: the file of the statement, which is signed, can be verified.'],
    sections: [
      {
        kind: 'figures',
        title: 'Figures',
        figures: [
          { name: 'Accepted', value: countText(counts.accepted), tone: 'good' },
          { name: 'Duplicate', value: countText(counts.duplicate) },
          {
            name: 'Rejected',
            value: countText(rejected.reduce((sum, [, count]) => sum + count, 0)),
            tone: 'bad',
          },
          { name: 'Late', value: countText(counts.late) },
          { name: 'Repaired', value: countText(counts.repaired) },
          { name: 'Erased', value: countText(counts.erased) },
        ],
      },
      {
        kind: 'time',
        title: 'Leads by day',
        stacks: [{ name: 'Leads', tone: 'good' }],
        buckets: [...days].map(([day, count]) => ({
          label: minuteText(day, zone).slice(0, 10),
          counts: [count],
        })),
      },
      ...(rejected.length === 0 ? [] : [deliveryBars('Rejected, by reason', 'Reason', rejected)]),
      ...values.map(({ field, counts: of }) => deliveryBars(`By ${field}`, field, of)),
      {
        kind: 'table',
        title: 'Leads, by their digests',
        columns: ['Digest', 'Received', ...by].map((name) => ({ name })),
        rows,
        note:
          lines > rows.length
            ? `${countText(lines - rows.length)} more are in the file.`
            : lines === 0
              ? 'There is none.'
              : undefined,
      },
    ],
  };
}

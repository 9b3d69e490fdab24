import type { InboxReader, StoredDelivery } from '../../inbox/inbox.ts';
import { mostAttemptsCounted } from '../../inbox/query-types.ts';
import { isObject, type Json } from '../../json/exact.ts';
import { initials, lastDigits, withoutContacts } from '../../report/reduce-personal-data.ts';
import {
  type Cell,
  deliveryBars,
  mostReportRows,
  type Report,
  type Section,
  type Tone,
} from '../../report/report.ts';
import { countText, minuteText, secondText, shareText } from '../../report/report-html.ts';
import { DelayPercentiles } from '../../stats/receipt-counts.ts';
import { formatDuration } from '../../time/time-text.ts';
import { offsetAt } from '../../time/zone.ts';
import { verdicts, type WireVerdict } from '../wire.ts';
import { leadIn } from './delivery-row.ts';
import { filteredDeliveries } from './filtered-deliveries.ts';
import type { ReportQuery } from './query-types.ts';

/**
 * What of an inbox a filter lets pass: counts of all of it, also of what is not stored any more, and the newest rows. Where
 * it is asked for what is pending, that is counted as it is now.
 */
export async function inboxReport(
  inbox: Pick<InboxReader, 'list' | 'search' | 'counts' | 'extent' | 'lackingTargets'>,
  query: ReportQuery,
): Promise<Report> {
  const { text, verdicts: wanted, since, until, zone, madeAt, keepsPersonalData } = query;
  const rows: StoredDelivery[] = [];
  const found: StoredDelivery[] = [];
  const isSearch = text !== undefined && text !== '';
  for await (const delivery of filteredDeliveries(inbox, query)) {
    if (rows.length < mostReportRows) rows.push(delivery);
    else if (!isSearch) break;
    if (isSearch) found.push({ ...delivery, body: nothing, headers: [], results: [] });
  }
  const end = until ?? madeAt + 1;
  const first = since ?? Math.min(await earliest(inbox, end), end - shortest);
  const counts = new Counts(first, end, zone, wanted ?? verdicts);
  // Who asks for what is pending asks for the leads that are outstanding now: the rows are these.
  const isOfNow = wanted?.includes('pending') === true;
  if (isSearch) counts.addFound(found);
  else await counts.addAll(inbox, isOfNow ? ['pending'] : []);
  if (isOfNow && !isSearch) await counts.addOutstanding(inbox);
  const { countedSince } = await inbox.extent();
  const isPast = wanted === undefined || wanted.some((verdict) => verdict !== 'pending');
  const unknownBefore = !isSearch && isPast && countedSince > first ? Math.min(countedSince, end) : undefined;
  return {
    title: isSearch || wanted !== undefined ? 'Deliveries that match' : 'Deliveries',
    program: query.program,
    madeAt,
    zone,
    personalData: keepsPersonalData ? 'whole' : 'reduced',
    facts: [
      // Of a path, the folders are the operator's own.
      ['Inbox', query.location.includes('://') ? query.location : query.location.replace(/^.*[\\/]/, '')],
      ['Received', `from ${minuteText(first, zone)} to ${minuteText(end, zone)} ${zone}`],
      ...(wanted === undefined ? [] : [['Verdict', wanted.join(', ')] as const]),
      ...(isSearch ? [['Search', keepsPersonalData ? text : 'words that are left out here'] as const] : []),
    ],
    notices:
      unknownBefore === undefined
        ? []
        : [
            `Before ${minuteText(unknownBefore, zone)} it was not counted what the inbox dropped: more may have come than is shown there.`,
          ],
    sections: [...counts.sections(unknownBefore), tableOf(rows, counts, query)],
  };
}

const nothing = new Uint8Array();

const day = 86_400_000;

const minute = 60_000;

/** In less time one delivery would be a bar as wide as the chart. */
const shortest = 12 * minute;

/** The minute of the first delivery that was counted; of an empty inbox the day before the end. */
async function earliest(inbox: Pick<InboxReader, 'counts'>, until: number): Promise<number> {
  let since = 0;
  // Parts of all time in minutes would be as many as the deliveries.
  for (const partMs of [day, minute]) {
    let part = Infinity;
    const end = since === 0 ? until : Math.min(until, since + day);
    for await (const step of inbox.counts({ since, until: end, partMs })) {
      for (const one of step) part = Math.min(part, one.part);
    }
    if (part === Infinity) return until - day;
    since += part * partMs;
  }
  return since;
}

/** What is removed is counted by the minute, so that each is of whole ones. */
const bucketLengths = [1, 5, 10, 30, 60, 180, 360, 720, 1440, 2880, 10_080, 40_320, 161_280];
const mostBuckets = 96;

const tones: Readonly<Record<WireVerdict, Tone>> = {
  accepted: 'good',
  duplicate: 'plain',
  pending: 'doubtful',
  rejected: 'bad',
  other: 'other',
};

/** Counts deliveries of some verdicts by time, reason and attempt. */
class Counts {
  readonly #since: number;
  readonly #until: number;
  readonly #zone: string;
  readonly #wanted: readonly WireVerdict[];
  readonly #bucketMs: number;
  /** Where the second bucket would begin if the first were as long as the others. */
  readonly #start: number;
  readonly #buckets: Record<WireVerdict, number>[];
  readonly #removed = { ...none };
  readonly #reasons = new Map<string, number>();
  readonly #attempts = new Array<number>(mostAttemptsCounted).fill(0);
  readonly #delays = new DelayPercentiles();
  #delaysUnknown = 0;

  constructor(since: number, until: number, zone: string, wanted: readonly WireVerdict[]) {
    [this.#since, this.#until, this.#zone, this.#wanted] = [since, until, zone, wanted];
    const length = bucketLengths.find((one) => (until - since) / (one * minute) <= mostBuckets - 1);
    this.#bucketMs = (length ?? Math.ceil((until - since) / minute / (mostBuckets - 1))) * minute;
    const offset = offsetAt(since, zone);
    this.#start = Math.floor((since + offset) / this.#bucketMs) * this.#bucketMs - offset;
    const count = Math.max(1, Math.ceil((until - this.#start) / this.#bucketMs));
    this.#buckets = Array.from({ length: count }, () => ({ ...none }));
  }

  get total(): number {
    return this.#sum(this.#wanted, (verdict) => this.#ofVerdict(verdict));
  }

  /** Of them, those that are not stored any more. */
  get removed(): number {
    return this.#sum(this.#wanted, (verdict) => this.#removed[verdict]);
  }

  /** The leads that are outstanding now, whatever their deliveries were answered when they came: a row each, as in the list. */
  async addOutstanding(inbox: Pick<InboxReader, 'list'>): Promise<void> {
    const [since, until] = [this.#since, this.#until];
    for await (const delivery of inbox.list({ verdicts: ['pending'], since, until })) {
      this.addFound([delivery]);
      this.#delaysUnknown += 1;
    }
  }

  addFound(found: readonly StoredDelivery[]): void {
    for (const { receivedAt, verdict, reason, attempt } of found) {
      const part = Math.floor((receivedAt - this.#start) / this.#bucketMs);
      this.#add(part, { verdict, reason, attempt: Math.min(attempt, mostAttemptsCounted), count: 1 });
    }
  }

  /** The first bucket is shorter where the time does not begin with one. */
  async addAll(inbox: Pick<InboxReader, 'counts'>, except: readonly WireVerdict[]): Promise<void> {
    const partMs = this.#bucketMs;
    const second = Math.min(this.#until, this.#start + partMs);
    for (const [since, until, first] of [
      [this.#since, second, 0],
      [second, this.#until, 1],
    ] as const) {
      if (since >= until) continue;
      for await (const step of inbox.counts({ since, until, partMs })) {
        for (const one of step) {
          if (except.includes(one.verdict)) continue;
          this.#add(first + one.part, one);
          if (!this.#wanted.includes(one.verdict)) continue;
          if (one.isRemoved) this.#removed[one.verdict] += one.count;
          this.#delaysUnknown += one.delaysUnknown;
          for (const delay of one.delays) this.#delays.add(delay);
        }
      }
    }
  }

  #add(
    part: number,
    one: {
      readonly verdict: WireVerdict;
      readonly reason: string | undefined;
      readonly attempt: number;
      readonly count: number;
    },
  ): void {
    const { verdict, reason, attempt, count } = one;
    const bucket = this.#buckets[part];
    if (bucket === undefined || !this.#wanted.includes(verdict)) return;
    bucket[verdict] += count;
    if (verdict === 'rejected') {
      const name = reason ?? 'no reason was kept';
      this.#reasons.set(name, (this.#reasons.get(name) ?? 0) + count);
    } else if (verdict !== 'other') this.#attempts[attempt - 1] = (this.#attempts[attempt - 1] ?? 0) + count;
  }

  #sum<T>(items: readonly T[], of: (item: T) => number): number {
    return items.reduce((sum, item) => sum + of(item), 0);
  }

  #ofVerdict(verdict: WireVerdict): number {
    return this.#sum(this.#buckets, (bucket) => bucket[verdict]);
  }

  sections(unknownBefore: number | undefined): Section[] {
    const { total } = this;
    const { p50, p95 } = this.#delays.figures();
    const delays = [
      ['Median delay', p50],
      ['Delay p95', p95],
    ] as const;
    const note = this.#delaysUnknown === 0 ? undefined : `${countText(this.#delaysUnknown)} not known`;
    const attempts = this.#attempts.slice(0, this.#attempts.findLastIndex((count) => count > 0) + 1);
    return [
      {
        kind: 'figures',
        title: 'Figures',
        figures: [
          { name: 'Deliveries', value: countText(total) },
          ...this.#wanted.map((verdict) => {
            const [count, removed] = [this.#ofVerdict(verdict), this.#removed[verdict]];
            const kept = removed === 0 ? [] : [`${countText(count - removed)} kept`];
            return {
              name: verdict.charAt(0).toUpperCase() + verdict.slice(1),
              value: countText(count),
              note: [shareText(count, total), ...kept].join(', '),
              tone: tones[verdict],
            };
          }),
          ...delays.flatMap(([name, ms]) => (ms === null ? [] : [{ name, value: formatDuration(ms), note }])),
        ],
      },
      {
        kind: 'time',
        title: `Deliveries per ${lengthText(this.#bucketMs)}`,
        stacks: this.#wanted.map((verdict) => ({ name: verdict, tone: tones[verdict] })),
        buckets: this.#buckets.map((bucket, i) => ({
          label: this.#label(i),
          counts: this.#wanted.map((verdict) => bucket[verdict]),
        })),
        unknown:
          unknownBefore === undefined ? undefined : Math.ceil((unknownBefore - this.#start) / this.#bucketMs),
      },
      ...(this.#reasons.size === 0
        ? []
        : [deliveryBars('Rejected, by reason', 'Reason', this.#reasons, 'bad')]),
      ...(attempts.length === 0
        ? []
        : [
            {
              kind: 'bars' as const,
              title: 'Deliveries of leads, by attempt',
              heads: ['Attempt', 'Deliveries'] as const,
              total: this.#sum(attempts, (count) => count),
              rows: attempts.map((count, i) => ({
                label: i + 1 === mostAttemptsCounted ? `${mostAttemptsCounted} or more` : String(i + 1),
                count,
              })),
            },
          ]),
    ];
  }

  /** Of a day the time in its middle is taken: where clocks are changed it does not begin at midnight. */
  #label(index: number): string {
    const isDays = this.#bucketMs >= day;
    const at = this.#start + index * this.#bucketMs;
    return minuteText(isDays ? at + day / 2 : at, this.#zone).slice(0, isDays ? 10 : undefined);
  }
}

const none = { accepted: 0, duplicate: 0, pending: 0, rejected: 0, other: 0 };

function lengthText(ms: number): string {
  const [unit, length] = [
    ['day', day],
    ['hour', 60 * minute],
    ['minute', minute],
  ].find(([, one]) => ms % Number(one) === 0) as [string, number];
  return ms === length ? unit : `${ms / length} ${unit}s`;
}

function tableOf(
  rows: readonly StoredDelivery[],
  { total, removed }: Counts,
  { zone, keepsPersonalData }: ReportQuery,
): Section {
  const names = [
    'Received',
    'Verdict',
    'Lead',
    'Name',
    'Phone',
    'E-mail',
    'Category',
    'Attempt',
    'Answer',
    'Targets',
  ];
  const isShown = (name: string): boolean => keepsPersonalData || name !== 'E-mail';
  return {
    kind: 'table',
    title: 'Deliveries, newest first',
    columns: names
      .filter(isShown)
      .map((name) => ({ name, isNumber: name === 'Attempt' || name === 'Answer' })),
    rows: rows.map((delivery) => {
      const cells = cellsOf(delivery, zone, keepsPersonalData);
      return names.filter(isShown).map((name) => cells[name] ?? '');
    }),
    note:
      rows.length === 0
        ? 'No delivery that is still stored matches.'
        : total > rows.length
          ? `${rows.length === mostReportRows ? 'The newest ' : ''}${countText(rows.length)} of ${countText(total)}${total - removed === rows.length ? '; the others are not stored any more' : ''}.`
          : undefined,
  };
}

function cellsOf(delivery: StoredDelivery, zone: string, isWhole: boolean): Readonly<Record<string, Cell>> {
  const { receivedAt, verdict, reason, leadId = '', attempt, status, results } = delivery;
  const lead = leadIn(delivery);
  const contact = isObject(lead?.['contact']) ? lead['contact'] : {};
  const [name, phone, email] = ['name', 'phone', 'email'].map((field) => textOf(contact[field]));
  const failed = results.filter(({ ok }) => !ok).length;
  const digits = (phone ?? '').replace(/\D/g, '');
  const id = digits.length < 7 ? leadId : leadId.replaceAll(digits, lastDigits(digits));
  const reduced = isWhole ? (text: string): string => text : withoutContacts;
  return {
    Received: secondText(receivedAt, zone),
    Verdict: { text: reason === undefined ? verdict : `${verdict}: ${reason}`, tone: tones[verdict] },
    Lead: isWhole ? leadId : withoutContacts(id),
    Name: isWhole ? (name ?? '') : initials(name ?? ''),
    Phone: isWhole ? (phone ?? '') : lastDigits(phone ?? ''),
    'E-mail': email ?? '',
    Category: reduced(textOf(lead?.['category'])),
    Attempt: String(attempt),
    Answer: String(status),
    Targets: [
      ...(results.length > failed ? [`${results.length - failed} took it`] : []),
      ...(failed > 0 ? [`${failed} failed`] : []),
    ].join(', '),
  };
}

/** In characters, of one cell. */
const longestCell = 200;

const textOf = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, longestCell) : '';

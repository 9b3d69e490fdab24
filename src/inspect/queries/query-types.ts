import type { InboxQuery } from '../../inbox/query-types.ts';
import type {
  WireCharts,
  WireCounts,
  WireCurl,
  WireDelivery,
  WireEvent,
  WireFound,
  WirePage,
  WireRow,
} from '../wire.ts';

export interface PageQuery extends Omit<InboxQuery, 'seq' | 'after'> {
  readonly limit: number;
}

export interface SearchQuery extends Omit<InboxQuery, 'seq' | 'leadId'> {
  readonly text: string;
  /** What `since:1h` in the text counts from. Default: the time of this machine. */
  readonly now?: number | undefined;
}

export interface ChartQuery {
  /** Undefined: of the last day what has deliveries, in as many buckets as that needs. */
  readonly since: number | undefined;
  readonly until: number;
  readonly buckets: number;
}

/** Deliveries that came behind one number. */
export type Arrived = Omit<Extract<WireEvent, { type: 'deliveries' }>, 'type'>;

/** What became different since it was last asked. */
export interface Changes {
  readonly newestSeq: number;
  /** At most 100; the others come with the next ones. */
  readonly changed: readonly WireRow[];
  /** Deliveries were pruned or erased. */
  readonly isRemoved: boolean;
}

/**
 * What the page asks of an inbox. A delivery that is not there is undefined. Rejects with
 * an error of `errors.ts` when the inbox cannot be read.
 */
export interface InboxQueries {
  newestSeq(): Promise<number>;
  page(query: PageQuery): Promise<WirePage>;
  search(query: SearchQuery): AsyncIterable<WireFound>;
  delivery(seq: number): Promise<WireDelivery | undefined>;
  /** As it is stored. */
  body(seq: number): Promise<Uint8Array | undefined>;
  /** A command that sends it to where it was sent to. */
  curl(seq: number): Promise<WireCurl | undefined>;
  charts(query: ChartQuery): Promise<WireCharts>;
  verdicts(query: Pick<InboxQuery, 'since' | 'until'>): Promise<WireCounts>;
  since(after: number): Promise<Arrived>;
  /** For one caller, who asks again and again. `touched`: deliveries that are told as changed in any case. */
  changes(touched: readonly number[]): Promise<Changes>;
  close(): Promise<void>;
}

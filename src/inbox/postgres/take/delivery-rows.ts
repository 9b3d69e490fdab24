import type { DeliveryContent, DeliverySummary } from '../../delivery-record.ts';
import { bytesOfText } from '../sql/text-bytes.ts';
import { type Sql, sql, statements, words } from '../sql/sql.ts';

interface DeliveryRow {
  readonly seq: number;
  readonly lead: Uint8Array | undefined;
  readonly summary: DeliverySummary;
  /** Of the delivery, unless it is stored as a row of `contents`. */
  readonly content: Pick<DeliveryContent, 'headers' | 'body'>;
}

const noBytes = new Uint8Array();
const none = { headers: [], body: noBytes };

/** The rows of `deliveries` and `contents` that one transaction inserts. An array holds no null: they are made of other values. */
export class DeliveryRows {
  readonly #schema: Sql;
  readonly #rows: DeliveryRow[] = [];
  readonly #contents: {
    readonly seq: number;
    readonly receivedAt: number;
    readonly content: DeliveryContent;
  }[] = [];

  constructor(schema: Sql) {
    this.#schema = schema;
  }

  /** With headers and body of its own, unless it shares those of `summary.firstSeq`. */
  add(seq: number, lead: Uint8Array | undefined, summary: DeliverySummary, content: DeliveryContent): void {
    this.#rows.push({ seq, lead, summary, content: summary.firstSeq === undefined ? content : none });
  }

  /** Headers and body that several rows share, under the number of the first. */
  addContent(seq: number, receivedAt: number, content: DeliveryContent): void {
    this.#contents.push({ seq, receivedAt, content });
  }

  /** The contents first: see `partitions.ts`. */
  get statements(): Sql {
    return statements(
      this.#contents.length === 0 ? undefined : this.#insertContents(),
      this.#rows.length === 0 ? undefined : this.#insertDeliveries(),
    );
  }

  #insertContents(): Sql {
    const all = this.#contents;
    return sql`INSERT INTO ${this.#schema}.contents (seq, received_at, headers, body) SELECT * FROM unnest(
      ${all.map(({ seq }) => seq)}, ${all.map(({ receivedAt }) => receivedAt)},
      ${all.map(({ content }) => headerBytes(content.headers))}, ${all.map(({ content }) => content.body)});`;
  }

  #insertDeliveries(): Sql {
    const rows = this.#rows;
    const numbers = (of: (summary: DeliverySummary) => number): number[] =>
      rows.map(({ summary }) => of(summary));
    const texts = (of: (summary: DeliverySummary) => string): Uint8Array[] =>
      rows.map(({ summary }) => bytesOfText(of(summary)));
    return sql`INSERT INTO ${this.#schema}.deliveries (seq, received_at, lead, verdict, reason, detail, status, attempt,
  source, differs, remote, method, path, headers, body, lead_start, lead_end, first_seq)
SELECT seq, received_at, CASE WHEN has_lead THEN lead END, verdict, reason, CASE WHEN reason IS NOT NULL THEN detail END,
  status, attempt, source, CASE WHEN differs <> '' THEN differs END, remote, method, path, headers, body,
  nullif(lead_start, -1), nullif(lead_end, -1), nullif(first_seq, -1)
FROM unnest(${rows.map(({ seq }) => seq)}, ${numbers(({ receivedAt }) => receivedAt)},
  ${rows.map(({ lead }) => lead !== undefined)}, ${rows.map(({ lead }) => lead ?? noBytes)},
  ${words(rows.map(({ summary }) => summary.verdict))}, ${words(rows.map(({ summary }) => summary.reason))},
  ${texts(({ detail = '' }) => detail)}, ${numbers(({ status }) => status)}, ${numbers(({ attempt }) => attempt)},
  ${words(rows.map(({ summary }) => summary.source))},
  ${texts(({ differs }) => (differs === undefined ? '' : JSON.stringify(differs)))},
  ${texts(({ remote }) => remote)}, ${texts(({ method }) => method)}, ${texts(({ path }) => path)},
  ${rows.map(({ content }) => headerBytes(content.headers))}, ${rows.map(({ content }) => content.body)},
  ${numbers(({ place }) => place?.start ?? -1)}, ${numbers(({ place }) => place?.end ?? -1)},
  ${numbers(({ firstSeq = -1 }) => firstSeq)}
) AS new (seq, received_at, has_lead, lead, verdict, reason, detail, status, attempt, source, differs, remote, method, path,
  headers, body, lead_start, lead_end, first_seq);`;
  }
}

const headerBytes = (headers: DeliveryContent['headers']): Uint8Array => bytesOfText(JSON.stringify(headers));

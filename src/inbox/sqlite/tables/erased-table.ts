import { erasedIdDigest } from '../../erase/erased-id.ts';
import type { ErasedLead } from '../../erase/erasure.ts';
import { memberIds } from '../../erase/member-ids.ts';
import type { RejectedDelivery } from '../../inbox.ts';
import type { ReceivedLead } from '../../received-leads.ts';
import type { Database, Statement } from '../libsql.ts';

/** The table `erased`: what stays of leads that were erased, by a keyed digest of each id. */
export class ErasedTable {
  readonly #database: Database;
  readonly #any: Statement;
  readonly #find: Statement;
  #key: Uint8Array | undefined;
  #isEmpty = true;

  constructor(database: Database) {
    this.#database = database;
    this.#any = database.prepare('SELECT 1 FROM erased LIMIT 1');
    this.#find = database.prepare('SELECT seq, first_at, attempts FROM erased WHERE digest = ?');
  }

  /** To be called before a transaction or a batch of lookups: another process may have erased leads. */
  refresh(): void {
    this.#isEmpty = this.#any.all([]).length === 0;
  }

  find(leadId: string): ErasedLead | undefined {
    if (this.#isEmpty) return undefined;
    const [row] = this.#find.all([erasedIdDigest(this.#keyOfInbox(), leadId)]);
    return (
      row && { seq: Number(row['seq']), firstAt: Number(row['first_at']), attempts: Number(row['attempts']) }
    );
  }

  /** As `ReceivedLeads` gives it. */
  lookUp(leadId: string): ReceivedLead | undefined {
    const lead = this.find(leadId);
    return lead && { seq: lead.seq, receivedAt: lead.firstAt, digest: undefined, isPending: false };
  }

  /** Whether a rejected delivery, of which nobody knows whether it is authentic, holds a lead that was erased. */
  isIn({ leadId, delivery }: Pick<RejectedDelivery, 'leadId' | 'delivery'>): boolean {
    if (this.#isEmpty) return false;
    const ids = leadId === undefined ? memberIds(delivery.body) : [leadId];
    return ids.some((id) => this.find(id) !== undefined);
  }

  /** What was kept at an earlier time stays. */
  add(leadId: string, { seq, firstAt, attempts }: ErasedLead): void {
    this.#database
      .prepare('INSERT INTO erased VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
      .run([erasedIdDigest(this.#keyOfInbox(), leadId), seq, firstAt, attempts]);
    this.#isEmpty = false;
  }

  /** The one that the names of targets are stored by. */
  #keyOfInbox(): Uint8Array {
    const key = (this.#key ??= this.#database.prepare('SELECT key FROM target_key').get([])?.['key'] as
      Uint8Array | undefined);
    if (key === undefined) throw new Error('the inbox has no key for the ids of erased leads');
    return key;
  }
}

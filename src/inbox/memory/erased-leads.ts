import { randomBytes } from 'node:crypto';
import { erasedIdDigest } from '../erase/erased-id.ts';
import type { ErasedLead } from '../erase/erasure.ts';
import { memberIds } from '../erase/member-ids.ts';
import type { RejectedDelivery } from '../inbox.ts';

/** The leads that were erased from a store in memory. */
export class ErasedLeads {
  readonly #key = randomBytes(32);
  readonly #leads = new Map<string, ErasedLead>();

  get size(): number {
    return this.#leads.size;
  }

  /** What was kept at an earlier time stays. */
  add(leadId: string, lead: ErasedLead): void {
    const digest = this.#digest(leadId);
    if (!this.#leads.has(digest)) this.#leads.set(digest, lead);
  }

  find(leadId: string): ErasedLead | undefined {
    return this.#leads.size === 0 ? undefined : this.#leads.get(this.#digest(leadId));
  }

  /** Whether a rejected delivery, of which nobody knows whether it is authentic, holds a lead that was erased. */
  isIn({ leadId, delivery }: Pick<RejectedDelivery, 'leadId' | 'delivery'>): boolean {
    if (this.#leads.size === 0) return false;
    const ids = leadId === undefined ? memberIds(delivery.body) : [leadId];
    return ids.some((id) => this.find(id) !== undefined);
  }

  #digest(leadId: string): string {
    return erasedIdDigest(this.#key, leadId).toString('base64');
  }
}

import type { Delivery } from '../webhook/delivery.ts';

/** A delivery that authenticated and holds a lead, on its way into the inbox. */
export interface Arrival {
  readonly delivery: Delivery;
  readonly leadId: string;
  readonly nonce?: string | undefined;
}

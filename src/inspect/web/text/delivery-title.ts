import type { WireRow } from '../../wire.ts';

/** What a delivery is called: by the lead's name where that shows anything, by its id, or by its own number. */
export function deliveryTitle({ seq, name, leadId }: Pick<WireRow, 'seq' | 'name' | 'leadId'>): string {
  return [name, leadId].find((text) => text !== null && text.trim() !== '') ?? `Delivery ${seq}`;
}

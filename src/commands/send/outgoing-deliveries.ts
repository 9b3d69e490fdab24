import type { OutgoingDelivery } from '../../sender/sign-request.ts';

const batchSize = 64;

/**
 * Each lead as so many deliveries to the target, one behind the other. Every delivery has an id of its own, which no
 * other run gives: a receiver may refuse an id that it knows with another body.
 */
export async function* outgoingDeliveries(
  source: LeadSource,
  {
    target,
    repeat,
    random,
  }: { readonly target: string; readonly repeat: number; readonly random: () => number },
): AsyncGenerator<readonly OutgoingDelivery[], void, undefined> {
  const runName = randomName(random) + randomName(random);
  let count = 0;
  for await (const batch of source) {
    let deliveries: OutgoingDelivery[] = [];
    for (const { leadId = '', body } of batch) {
      for (let time = 0; time < repeat; time += 1) {
        count += 1;
        deliveries.push({ id: `msg_${runName}${count.toString(36)}`, leadId, target, body });
        if (deliveries.length < batchSize) continue;
        yield deliveries;
        deliveries = [];
      }
    }
    if (deliveries.length > 0) yield deliveries;
  }
}

/** A lead that is to be delivered. */
export interface SourceLead {
  /** Undefined where the record has no usable id: a receiver must reject it. */
  readonly leadId: string | undefined;
  /** Its own bytes. */
  readonly body: Uint8Array;
}

/** In batches, which cost less than leads one by one. */
export type LeadSource = AsyncIterable<readonly SourceLead[]>;

/** Eight letters and digits: 40 bits. */
export function randomName(random: () => number): string {
  return Array.from({ length: 8 }, () => Math.floor(random() * 32).toString(32)).join('');
}

import type { Arrival } from './inbox.ts';

/** The leads of one delivery, at least one. */
export type Group = readonly [Arrival, ...Arrival[]];

/** Puts arrivals that follow each other and share a delivery together; a body that is the lead has no other one. */
export function groupByDelivery(arrivals: readonly Arrival[]): readonly Group[] {
  const groups: [Arrival, ...Arrival[]][] = [];
  for (const arrival of arrivals) {
    const last = groups.at(-1);
    if (
      arrival.place !== undefined &&
      last?.[0].place !== undefined &&
      last[0].delivery === arrival.delivery
    ) {
      last.push(arrival);
    } else groups.push([arrival]);
  }
  return groups;
}

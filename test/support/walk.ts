import { described } from './described.ts';
import { listLeads } from '../../src/service/listing.ts';
import type { ListingOptions, ListingStats } from '../../src/service/listing-types.ts';
import type { Completion } from '../../src/service/listing-types.ts';
import type { Position } from '../../src/service/pagers/position.ts';
import type { Service } from '../../src/service/client/service.ts';

export interface Walked {
  readonly ids: (string | undefined)[];
  readonly positions: (Position | undefined)[];
  /** How many leads had come at each of them. */
  readonly counts: number[];
  readonly completion: Completion | undefined;
  readonly stats: Readonly<ListingStats>;
}

/** The words of a walk that ends at a page of which nothing shows that it is all. */
export const mayBeCut = 'may be as many as the service gives at once';

/** Walks to the end and tells what came. */
export async function walk(service: Service, options: Partial<ListingOptions> = {}): Promise<Walked> {
  const pages = listLeads(service, { query: {}, ...options });
  const ids: (string | undefined)[] = [];
  const positions: (Position | undefined)[] = [];
  const counts: number[] = [];
  try {
    for await (const batch of pages) {
      ids.push(...batch.leads.map((lead) => lead.id));
      positions.push(batch.next);
      counts.push(ids.length);
    }
  } catch (error) {
    throw described(error);
  }
  return { ids, positions, counts, completion: pages.completion, stats: pages.stats };
}

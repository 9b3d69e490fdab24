import { leadPages, type WalkOptions, type WalkStats } from '../../src/service/pages.ts';
import type { Position } from '../../src/service/position.ts';
import type { Service } from '../../src/service/service.ts';

export interface Walked {
  readonly ids: (string | undefined)[];
  readonly positions: (Position | undefined)[];
  readonly stats: Readonly<WalkStats>;
}

/** Walks to the end and tells what came. */
export async function walk(service: Service, options: Partial<WalkOptions> = {}): Promise<Walked> {
  const pages = leadPages(service, { query: {}, ...options });
  const ids: (string | undefined)[] = [];
  const positions: (Position | undefined)[] = [];
  for await (const batch of pages) {
    ids.push(...batch.leads.map((lead) => lead.id));
    positions.push(batch.next);
  }
  return { ids, positions, stats: pages.stats };
}

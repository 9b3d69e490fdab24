import { type Sql, sql, statements } from '../sql/sql.ts';
import type { StoreContext } from '../store-context.ts';
import type { SettledDeliveries } from './settled-deliveries.ts';
import type { SettledLead } from './settled-lead.ts';

/** What changed of the leads, by their keys (ids in hex), and of the deliveries. */
export function settleWrites(
  { schema }: StoreContext,
  leads: ReadonlyMap<string, SettledLead>,
  deliveries: SettledDeliveries,
): Sql {
  const changed = [...leads].filter(([, { isChanged }]) => isChanged);
  const removed = [...leads].flatMap(([key, { removed }]) => [...removed].map((target) => ({ key, target })));
  const leased = [...leads].flatMap(([key, { leased, outstanding }]) =>
    [...leased].flatMap((target) => {
      const found = outstanding.get(target);
      return found === undefined ? [] : [{ key, target, ...found }];
    }),
  );
  return statements(
    changed.length === 0
      ? undefined
      : sql`UPDATE ${schema}.ids SET accepted = new.accepted, settled = new.settled
          FROM unnest(${changed.map(([key]) => bytes(key))}, ${changed.map(([, { accepted, isLost }]) => accepted || isLost)},
            ${changed.map(([, { settled }]) => bytes([...settled].join('')))}) AS new (id, accepted, settled)
          WHERE ids.id = new.id;`,
    removed.length === 0
      ? undefined
      : sql`DELETE FROM ${schema}.outstanding AS o USING unnest(${removed.map(({ key }) => bytes(key))},
            ${removed.map(({ target }) => bytes(target))}) AS old (lead, target)
          WHERE o.lead = old.lead AND o.target = old.target;`,
    leased.length === 0
      ? undefined
      : sql`UPDATE ${schema}.outstanding AS o SET owner = new.owner, lease = new.lease
          FROM unnest(${leased.map(({ key }) => bytes(key))}, ${leased.map(({ target }) => bytes(target))},
            ${leased.map(({ owner }) => bytes(owner))}, ${leased.map(({ lease }) => lease)}) AS new (lead, target, owner, lease)
          WHERE o.lead = new.lead AND o.target = new.target;`,
    deliveries.statements,
  );
}

const bytes = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

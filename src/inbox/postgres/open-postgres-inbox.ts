import type { Inbox } from '../inbox.ts';
import type { StoreOptions } from '../inbox-options.ts';
import type { DatabaseLocation } from './connection/address/database-location.ts';
import { LeaseClock } from './lease-clock.ts';
import { MonthsAhead } from './months-ahead.ts';
import { NonceClock } from './nonce-clock.ts';
import { openSchema } from './open-schema.ts';
import { cannotOpen } from './postgres-errors.ts';
import { PostgresInbox } from './postgres-inbox.ts';
import { leaseOwner, removeDeadReceivers, RunningReceiver } from './receivers.ts';
import { statements } from './sql/sql.ts';
import { storeLabels, TargetNames } from './stored-targets.ts';

/** Throws a `ConfigError`, or that the database cannot be reached. */
export async function openPostgresInbox(
  location: DatabaseLocation,
  options: Omit<StoreOptions, 'location'>,
): Promise<Inbox> {
  const { clock, pid, targets, onDemand = [], warn } = options;
  const opened = await openSchema(location, { now: clock.now(), warn });
  const { connections, schema } = opened;
  try {
    return await connections.use(async (connection) => {
      const months = new MonthsAhead({ schema, clock, warn });
      await months.add(connection);
      await removeDeadReceivers(connection, schema, { pid, now: clock.now() });
      const names = new TargetNames(opened.targetKey);
      const owner = await leaseOwner(pid);
      const receiver = new RunningReceiver(schema, owner, clock.now());
      const stored = targets.map((target) => names.storedName(target));
      const labelled = [...targets, ...onDemand];
      const labels = labelled.length > 0 ? storeLabels(schema, names, labelled) : undefined;
      const added = stored.length > 0 ? receiver.added(stored) : undefined;
      if (labels !== undefined) await connection.run(statements(labels, added));
      const nonceClock = await NonceClock.open(connection, schema, clock);
      const leaseClock = await LeaseClock.open(connection, clock);
      const context = { ...opened, names, owner, receiver, nonceClock, leaseClock, options };
      return new PostgresInbox(opened, context, months);
    });
  } catch (error) {
    await connections.close();
    throw cannotOpen(location.shown, error);
  }
}

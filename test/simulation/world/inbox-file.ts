import { existsSync } from 'node:fs';
import { changesOf, openCopy } from '../kernel/database.ts';
import type { Disk } from '../kernel/disk.ts';
import type { TargetKind } from './plan.ts';

/** What `--inbox` is given. */
export const inboxPath = '/sim/inbox.db';

/** One lead at one target, as the inbox has it. Times are the inbox's, in milliseconds since the epoch. */
export interface StoredForward {
  readonly id: string;
  readonly target: TargetKind;
  readonly state: 'waiting' | 'done' | 'dead';
  /** When the lead came, or was made due by a person. */
  readonly since: number;
  readonly claimedUntil: number;
}

/** What the inbox holds, read without the product's code. */
export interface StoredLeads {
  readonly ids: ReadonlySet<string>;
  /** Ids of those that were pushed, as far as their first delivery is still there. */
  readonly pushed: ReadonlySet<string>;
  readonly forwards: readonly StoredForward[];
}

type Row = Readonly<Record<string, unknown>>;

const nothing: StoredLeads = { ids: new Set(), pushed: new Set(), forwards: [] };

const lastRead = new WeakMap<Disk, { readonly changes: number; readonly stored: StoredLeads }>();

export function readInbox(disk: Disk): StoredLeads {
  const changes = changesOf(disk);
  const last = lastRead.get(disk);
  if (last?.changes === changes) return last.stored;
  const stored = read(disk);
  lastRead.set(disk, { changes, stored });
  return stored;
}

function read(disk: Disk): StoredLeads {
  if (!existsSync(disk.real(inboxPath))) return nothing;
  const database = openCopy(disk, inboxPath);
  const rowsOf = (sql: string): Row[] => database.prepare(sql).all([]) as Row[];
  const idsOf = (sql: string): Set<string> => new Set(rowsOf(sql).map(({ id }) => String(id)));
  const tables = idsOf("SELECT name AS id FROM sqlite_master WHERE type = 'table'");
  if (!tables.has('forwards')) return nothing;
  const forwards = rowsOf(
    `SELECT lead, label, state, since - clock_ahead AS since,
        CASE WHEN claimed_until = 0 THEN 0 ELSE claimed_until - clock_ahead END AS claimed_until
      FROM forwards JOIN targets ON name = target CROSS JOIN meta ORDER BY lead, label`,
  );
  const idsFrom = (source: string): Set<string> =>
    idsOf(`SELECT id FROM leads JOIN deliveries ON deliveries.seq = leads.seq WHERE source = '${source}'`);
  return {
    ids: idsOf('SELECT id FROM leads'),
    pushed: idsFrom('push'),
    forwards: forwards.map((row) => ({
      id: String(row['lead']),
      target: kindOf(String(row['label'])),
      state: row['state'] as StoredForward['state'],
      since: Number(row['since']),
      claimedUntil: Number(row['claimed_until']),
    })),
  };
}

/** The label of a target begins with the kind of it. */
export function kindOf(label: string): TargetKind {
  const [kind] = label.split(' ');
  return kind === 'forward' ? 'application' : kind === 'output' ? 'file' : 'command';
}

import { existsSync } from 'node:fs';
import { changesOf, openCopy } from '../kernel/database.ts';
import type { Disk } from '../kernel/disk.ts';
import type { Machine } from '../kernel/machine.ts';
import type { Tables } from '../postgres/tables.ts';
import type { Plan } from './plan.ts';

/** What `--inbox` is given. */
export const inboxPlace = ({ inbox }: Pick<Plan, 'inbox'>): string => places[inbox];

const places = {
  file: '/sim/inbox.db',
  postgres: 'postgres://operator@127.0.0.1/leads',
};

/** What the inbox holds, read without the product's code. */
export interface StoredLeads {
  readonly ids: ReadonlySet<string>;
  /** Ids with a target that has not taken them, given up or not. */
  readonly outstanding: ReadonlySet<string>;
  /** Ids that a target was given up for, and when they became outstanding there. */
  readonly givenUp: ReadonlyMap<string, number>;
}

interface Row {
  readonly id: string;
  readonly since: number;
}

const nothing: StoredLeads = { ids: new Set(), outstanding: new Set(), givenUp: new Map() };

/** The bytes that are stored of each of these leads; a lead that was pruned or erased has none. */
export function readStoredBodies(
  { inbox }: Pick<Plan, 'inbox'>,
  { disk, postgres }: Machine,
  ids: readonly string[],
): ReadonlyMap<string, string> {
  if (ids.length === 0) return new Map();
  if (inbox === 'postgres') return postgres.look((tables) => bodiesIn(tables, ids));
  const statement = openCopy(disk, '/sim/inbox.db').prepare(
    'SELECT body FROM deliveries WHERE seq = (SELECT seq FROM leads WHERE id = ?)',
  );
  return new Map(
    ids.flatMap((id): [string, string][] => {
      const [row] = statement.all([id]) as { readonly body: ArrayBuffer }[];
      return row === undefined || row.body.byteLength === 0 ? [] : [[id, Buffer.from(row.body).toString()]];
    }),
  );
}

const lastRead = new WeakMap<Disk, { readonly changes: number; readonly stored: StoredLeads }>();

export const readInbox = ({ inbox }: Pick<Plan, 'inbox'>, { disk, postgres }: Machine): StoredLeads =>
  inbox === 'postgres' ? postgres.look(readTables) : readInboxFile(disk);

function readTables({ ids, outstanding }: Tables): StoredLeads {
  const idOf = (hex: string): string => Buffer.from(hex, 'hex').toString();
  const rows = [...outstanding.values()];
  return {
    ids: new Set([...ids.keys()].map(idOf)),
    outstanding: new Set(rows.map(({ lead }) => idOf(lead))),
    givenUp: new Map(rows.filter(({ dead }) => dead).map(({ lead, since }) => [idOf(lead), since])),
  };
}

function readInboxFile(disk: Disk): StoredLeads {
  const changes = changesOf(disk);
  const last = lastRead.get(disk);
  if (last?.changes === changes) return last.stored;
  const stored = read(disk);
  lastRead.set(disk, { changes, stored });
  return stored;
}

function read(disk: Disk): StoredLeads {
  const path = '/sim/inbox.db';
  if (!existsSync(disk.real(path))) return nothing;
  const database = openCopy(disk, path);
  const rowsOf = (sql: string): Row[] => database.prepare(sql).all([]) as Row[];
  const idsOf = (sql: string): Set<string> => new Set(rowsOf(sql).map(({ id }) => id));
  const tables = idsOf("SELECT name AS id FROM sqlite_master WHERE type = 'table'");
  if (!tables.has('work')) return nothing;
  return {
    ids: idsOf('SELECT id FROM leads'),
    outstanding: idsOf('SELECT DISTINCT lead AS id FROM work WHERE done = 0'),
    givenUp: new Map(
      rowsOf('SELECT lead AS id, since FROM work WHERE done = 0 AND dead = 1').map(({ id, since }) => [
        id,
        since,
      ]),
    ),
  };
}

const bodiesIn = (tables: Tables, ids: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    ids.flatMap((id): [string, string][] => {
      const row = tables.ids.get(Buffer.from(id).toString('hex'));
      const first = row && tables.deliveries.get(row.seq);
      return first === undefined ? [] : [[id, first.body.toString()]];
    }),
  );

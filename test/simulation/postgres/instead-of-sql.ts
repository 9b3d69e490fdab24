import { kindRead, verdictRead } from '../../../src/inbox/delivery-record.ts';
import type {
  Backlog,
  DueLead,
  Erased,
  Erasure,
  InboxReader,
  LackingTarget,
  LeadState,
  Outstanding,
  Source,
  StoredDelivery,
  StoredLead,
  StoredRef,
} from '../../../src/inbox/inbox.ts';
import { sumBacklog } from '../../../src/inbox/inbox.ts';
import { connect } from '../../../src/inbox/postgres/connection/connect.ts';
import type { DatabaseLocation } from '../../../src/inbox/postgres/connection/database-location.ts';
import { storedIds } from '../../../src/inbox/postgres/erased-rows.ts';
import { cannotRead } from '../../../src/inbox/postgres/postgres-errors.ts';
import { type OpenedSchema, resultsIn } from '../../../src/inbox/postgres/read/read-database.ts';
import { bytesOfText, hexOf, identifier, textOfBytes } from '../../../src/inbox/postgres/sql.ts';
import type { StoreContext } from '../../../src/inbox/postgres/store-context.ts';
import type { InboxQuery } from '../../../src/inbox/query-types.ts';
import { storeReader, type StoreReader } from '../../../src/inbox/store-reader.ts';
import { leadBytes } from '../../../src/lead/raw-lead.ts';
import type { AskingConnection } from './open-session.ts';
import type { Working } from './statements.ts';
import type { DeliveryRow, OutstandingRow, Tables } from './tables.ts';

/**
 * In place of the modules that say in SQL what is read, erased and pruned, and of those that make the schema: the simulated
 * database knows the statements that take, lease and settle alone.
 */
const ask = <T>({ connections }: OpenedSchema, run: (working: Working) => T): Promise<T> =>
  connections.use((session) => (session as AskingConnection).ask({ writes: false, run }));

const write = <T>({ connections }: OpenedSchema, run: (working: Working) => T): Promise<T> =>
  connections.use((session) => (session as AskingConnection).ask({ writes: true, run }));

const key = Buffer.alloc(32, 7);

const keyOf = (leadId: string): string => hexOf(bytesOfText(leadId));

const textIn = (hex: string): string => textOfBytes(Buffer.from(hex, 'hex'));

/** Of `open-schema.ts`. */
export async function openSchema(location: DatabaseLocation): Promise<OpenedSchema> {
  const connections = await connect(location);
  return { connections, schema: identifier(connections.schema), lockKey: 1, targetKey: key };
}

/** Of `open-schema.ts`. */
export const openPostgresReader = async (location: DatabaseLocation): Promise<InboxReader> =>
  postgresReader(await openSchema(location));

const labelOf = ({ targets }: Tables, target: string): string =>
  textOfBytes(targets.get(target) ?? Buffer.of());

/** Of `read/outstanding.ts`. */
export const backlogOf = (
  database: OpenedSchema,
  { wanted }: { readonly wanted: readonly string[] },
): Promise<Backlog[]> =>
  ask(database, ({ tables }) =>
    sumBacklog(
      [...tables.outstanding.values()].map(({ target, dead, firstAt }) => ({
        target: wanted.includes(target) ? labelOf(tables, target) : undefined,
        leads: dead ? 0 : 1,
        dead: dead ? 1 : 0,
        oldestAt: dead ? Number.POSITIVE_INFINITY : firstAt,
      })),
    ),
  );

const byLead = (a: OutstandingRow, b: OutstandingRow): number => (a.lead < b.lead ? -1 : 1);

/** Of `read/outstanding.ts`. */
export async function* outstandingLeads(
  database: OpenedSchema,
  target: Uint8Array | undefined,
): AsyncGenerator<StoredRef> {
  const name = target === undefined ? undefined : hexOf(target);
  const found = await ask(database, ({ tables }) =>
    [...tables.outstanding.values()].filter((row) => row.target === (name ?? row.target)).sort(byLead),
  );
  for (const { lead, seq } of found) yield { leadId: textIn(lead), seq };
}

const freeAt = ({ dueAt, lease }: OutstandingRow): number => Math.max(dueAt, lease);

/** Of `read/outstanding.ts`. */
export async function dueLeads(
  context: StoreContext,
  target: string,
  {
    by,
    limit,
    leadIds,
  }: { readonly by?: number; readonly limit: number; readonly leadIds?: readonly string[] },
): Promise<DueLead[]> {
  const { storedName, options, owner } = context;
  const name = hexOf(storedName(target));
  const ahead = by === undefined ? Number.POSITIVE_INFINITY : Math.floor(by - options.clock.now());
  const asked = leadIds && new Set(leadIds.map(keyOf));
  const found = await ask(context, ({ tables, now }) =>
    [...tables.outstanding.values()]
      .filter((row) => row.target === name && !row.dead && freeAt(row) <= now + ahead)
      .filter((row) => asked?.has(row.lead) !== false)
      .sort((a, b) => freeAt(a) - freeAt(b) || byLead(a, b))
      .slice(0, limit)
      .map((row) => {
        const isUnended = row.lease > 0 && row.owner !== hexOf(owner);
        return { ...row, tries: row.tries + (isUnended ? 1 : 0), dueIn: freeAt(row) - now };
      }),
  );
  const now = options.clock.now();
  return found.map(({ lead, seq, tries, since, dueIn }) => ({
    leadId: textIn(lead),
    seq,
    tries,
    since,
    dueAt: now + dueIn,
  }));
}

/** Of `postgres-reader.ts`. */
export function postgresReader(
  database: OpenedSchema,
  asking: { readonly wanted: readonly string[] } = { wanted: [] },
): StoreReader {
  const { connections } = database;
  const { location } = connections;
  const reading =
    <A extends unknown[], T>(read: (tables: Tables, ...asked: A) => T) =>
    (...asked: A): Promise<T> =>
      ask(database, ({ tables }) => read(tables, ...asked));
  async function* each<T>(read: (tables: Tables) => readonly T[]): AsyncGenerator<T> {
    yield* await ask(database, ({ tables }) => read(tables));
  }
  async function* batch<T>(read: (tables: Tables) => readonly T[]): AsyncGenerator<readonly T[]> {
    yield await ask(database, ({ tables }) => read(tables));
  }
  return storeReader(
    location,
    {
      lookUp: reading((tables, leadIds: readonly string[]) => leadIds.map((id) => received(tables, id))),
      states: reading((tables, leadIds: readonly string[]) => {
        const found = new Map<string, LeadState>();
        for (const leadId of leadIds) {
          const row = tables.ids.get(keyOf(leadId));
          if (row !== undefined) found.set(leadId, row.accepted ? 'accepted' : 'pending');
          else if (erasedOf(tables, leadId) !== undefined) found.set(leadId, 'accepted');
        }
        return found;
      }),
      seqsSince: (since) =>
        batch(({ ids }) => [...ids.values()].filter(({ firstAt }) => firstAt >= since).map(({ seq }) => seq)),
      backfilledSeqs: (from) =>
        batch(({ ids }) =>
          [...ids.values()].filter(({ pushed, seq }) => !pushed && seq >= from).map(({ seq }) => seq),
        ),
      prunedSince: (since) =>
        batch(({ ids, deliveries }) =>
          [...ids.values()]
            .filter(({ seq, firstAt }) => firstAt >= since && !deliveries.has(seq))
            .map(({ id, seq, firstAt }) => ({ leadId: textIn(id), seq, receivedAt: firstAt })),
        ),
      leadsBySeq: reading((tables, seqs: readonly number[]) =>
        seqs.flatMap((seq) => storedLead(tables, tables.deliveries.get(seq)) ?? []),
      ),
      list: (query) => each((tables) => listed(tables, query)),
      receipts: ({ since, until, withRepeats }) =>
        batch((tables) =>
          listed(tables, { since, until }).map((one) => ({
            ...one,
            lead:
              withRepeats || (one.attempt === 1 && one.reason === undefined)
                ? leadBytes(one.body, one.place)
                : undefined,
          })),
        ),
      counts: () => batch(() => []),
      leads: ({ states = ['accepted'], since, until }) =>
        each((tables) =>
          [...tables.ids.values()].flatMap((row): StoredLead[] => {
            const isPending = [...tables.outstanding.values()].some(({ lead }) => lead === row.id);
            const isWanted =
              (row.accepted && states.includes('accepted')) || (isPending && states.includes('pending'));
            const isThen = row.firstAt >= (since ?? 0) && row.firstAt < (until ?? Number.POSITIVE_INFINITY);
            const lead = isWanted && isThen ? storedLead(tables, tables.deliveries.get(row.seq)) : undefined;
            return lead === undefined ? [] : [lead];
          }),
        ),
      changeMark: () => '',
      checkReadable: reading(() => undefined),
      outstanding: reading((tables) => outstandingTargets(tables, asking.wanted)),
      lackingTargets: reading((tables, leadId: string) => lackingTargets(tables, leadId)),
      droppedRepeats: () => ({ differing: 0, same: 0 }),
      close: () => connections.close(),
    },
    (cause) => cannotRead(location, cause),
  );
}

const erasedOf = ({ erased }: Tables, leadId: string): ReturnType<Tables['erased']['get']> =>
  erased.get(storedIds(key, [leadId]).map(({ digest }) => hexOf(digest))[0] ?? '');

function received(tables: Tables, leadId: string): Awaited<ReturnType<InboxReader['lookUp']>>[number] {
  const row = tables.ids.get(keyOf(leadId));
  const gone = row === undefined ? erasedOf(tables, leadId) : undefined;
  if (gone !== undefined) {
    return { seq: gone.seq, receivedAt: gone.firstAt, digest: undefined, isPending: false };
  }
  if (row === undefined) return undefined;
  const isOutstanding = [...tables.outstanding.values()].some(({ lead }) => lead === row.id);
  return {
    seq: row.seq,
    receivedAt: row.firstAt,
    digest: row.digest,
    isPending: !row.accepted || isOutstanding,
  };
}

function listed(tables: Tables, query: InboxQuery): StoredDelivery[] {
  const { verdicts, leadId, seq, firstSeq, before, after = 0, since = 0, until } = query;
  const isOfTargets = (verdict: string): boolean => verdict === 'pending' || verdict === 'dead';
  const outstanding = new Set<number>();
  if (verdicts?.some(isOfTargets) === true) {
    for (const row of tables.outstanding.values()) {
      if (!row.dead && !verdicts.includes('pending')) continue;
      const repeats = [...tables.deliveries.values()].filter(
        (one) => one.lead === row.lead && one.attempt > 1 && one.verdict === 'pending',
      );
      outstanding.add(Math.max(row.seq, ...repeats.map((one) => one.seq)));
    }
  }
  const isWanted = (row: DeliveryRow): boolean =>
    (verdicts === undefined ||
      outstanding.has(row.seq) ||
      verdicts.some((one) => one === row.verdict && !isOfTargets(one))) &&
    (leadId === undefined || row.lead === keyOf(leadId)) &&
    (seq === undefined || row.seq === seq) &&
    (firstSeq === undefined || row.firstSeq === firstSeq) &&
    row.seq < (before ?? Number.POSITIVE_INFINITY) &&
    row.seq > after &&
    row.receivedAt >= since &&
    row.receivedAt < (until ?? Number.POSITIVE_INFINITY);
  const rows = seq === undefined ? [...tables.deliveries.values()] : [tables.deliveries.get(seq)];
  return rows
    .flatMap((row) => (row !== undefined && isWanted(row) ? [row] : []))
    .sort((a, b) => b.seq - a.seq)
    .map((row) => storedDelivery(tables, row));
}

function storedDelivery(tables: Tables, row: DeliveryRow): StoredDelivery {
  const reason = row.reason ?? undefined;
  const { headers, body } = tables.contents.get(row.firstSeq ?? -1) ?? row;
  const text = (bytes: Uint8Array | null): string => textOfBytes(bytes ?? Buffer.of());
  return {
    seq: row.seq,
    receivedAt: row.receivedAt,
    leadId: row.lead === null ? undefined : textIn(row.lead),
    verdict: verdictRead(row.verdict, reason),
    reason,
    detail: row.detail === null ? undefined : text(row.detail),
    status: row.status,
    attempt: row.attempt,
    source: row.source as Source,
    remote: text(row.remote),
    method: text(row.method),
    path: text(row.path),
    headers: JSON.parse(text(headers)) as StoredDelivery['headers'],
    body,
    place:
      row.leadStart === null || row.leadEnd === null ? undefined : { start: row.leadStart, end: row.leadEnd },
    firstSeq: row.firstSeq ?? undefined,
    differs: row.differs === null ? undefined : (JSON.parse(text(row.differs)) as readonly string[]),
    results: resultsIn(text(row.results)).map((result) => ({
      ...result,
      kind: kindRead(result.kind, row.source as Source),
    })),
  };
}

function storedLead(tables: Tables, row: DeliveryRow | undefined): StoredLead | undefined {
  if (row === undefined) return undefined;
  const { seq, leadId = '', receivedAt, source, body, place } = storedDelivery(tables, row);
  return { seq, leadId, receivedAt, source, body: leadBytes(body, place) };
}

function outstandingTargets(tables: Tables, wanted: readonly string[]): Outstanding[] {
  const rows = [...tables.outstanding.values()];
  return [...new Set(rows.map(({ target }) => target))]
    .map((target) => {
      const own = rows.filter((row) => row.target === target);
      const dead = own.filter((row) => row.dead).length;
      return {
        target: labelOf(tables, target),
        leads: own.length - dead,
        dead,
        wanted: wanted.includes(target),
        wantedElsewhere: [...tables.receivers.values()].some((one) => one.target === target),
      };
    })
    .sort((a, b) => (a.target < b.target ? -1 : 1));
}

const lackingTargets = (tables: Tables, leadId: string): LackingTarget[] =>
  [...tables.outstanding.values()]
    .filter(({ lead }) => lead === keyOf(leadId))
    .map(({ target, tries, dueAt, dead }) => ({
      target: labelOf(tables, target),
      tries,
      dueAt: dead ? undefined : dueAt,
      dead,
    }));

/** Of `write/erase.ts`. */
export const eraseFromDatabase = (database: OpenedSchema, erasure: Erasure): Promise<Erased> =>
  write(database, ({ tables, changes }) => {
    const counts = { leads: 0, deliveries: 0, rejected: 0, pending: 0 };
    for (const { key: id, digest } of storedIds(key, erasure.leadIds)) {
      const row = tables.ids.get(id);
      const mine = [...tables.deliveries.values()].filter(({ lead, seq }) => lead === id || seq === row?.seq);
      for (const { seq, reason } of mine) {
        counts[reason === null ? 'deliveries' : 'rejected'] += 1;
        changes.delete(tables.deliveries, seq);
      }
      const work = [...tables.outstanding].filter(([, { lead }]) => lead === id);
      for (const [name] of work) changes.delete(tables.outstanding, name);
      if (row === undefined && mine.length === 0) continue;
      if (work.length > 0) counts.pending += 1;
      if (row !== undefined) counts.leads += 1;
      const { seq = 0, firstAt = 0, attempts = 0 } = row ?? {};
      changes.delete(tables.ids, id);
      if (!tables.erased.has(hexOf(digest)))
        changes.set(tables.erased, hexOf(digest), { seq, firstAt, attempts });
    }
    return { ...counts, remains: undefined, outOfReach: [] };
  });

/** Of `write/prune.ts`. */
export const pruneDeliveries = (database: OpenedSchema, before: number): Promise<number> =>
  write(database, ({ tables, changes }) => {
    const kept = new Set(
      [...tables.outstanding.values()].filter(({ dead }) => !dead).map(({ lead }) => lead),
    );
    const over = [...tables.deliveries.values()].filter(
      ({ receivedAt, lead }) => receivedAt < before && !(lead !== null && kept.has(lead)),
    );
    for (const { seq } of over) changes.delete(tables.deliveries, seq);
    const left = new Set([...tables.deliveries.values()].map(({ lead }) => lead));
    for (const [name, { lead, dead }] of tables.outstanding)
      if (dead && !left.has(lead)) changes.delete(tables.outstanding, name);
    return over.length;
  });

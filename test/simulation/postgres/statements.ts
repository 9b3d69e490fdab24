import type { Changes, DeliveryRow, OutstandingRow, Tables } from './tables.ts';

/** A statement as the product sends it: `$1` stands for its first parameter. */
export interface SentStatement {
  readonly text: string;
  readonly parameters: readonly { readonly type: number; readonly value: string | Buffer }[];
}

export type ResultRow = Readonly<Record<string, unknown>>;

/** What a statement of a transaction works on. */
export interface Working {
  readonly tables: Tables;
  readonly changes: Changes;
  /** The database's clock. */
  readonly now: number;
  readonly drawNumber: () => number;
}

type Value = null | boolean | number | string | Buffer | readonly Value[];

/**
 * What the product's statements do, by how they begin, as `src/inbox/postgres` says it in SQL. One that is not known is an
 * error: whoever adds a statement there adds it here.
 */
export function execute({ text, parameters }: SentStatement, work: Working): readonly ResultRow[] {
  const [, run] = statements.find(([start]) => start.test(text)) ?? [];
  if (run === undefined) throw new Error(`the simulated database does not know: ${text}`);
  return run(parameters.map(valueOf), work);
}

const listTypes: Readonly<Record<number, number>> = { 1000: 16, 1001: 17, 1009: 25, 1016: 20 };

/** A text of the product's own, or the binary form of a type. */
function valueOf({ type, value }: SentStatement['parameters'][number]): Value {
  if (typeof value === 'string') return value === '{}' ? [] : value;
  const element = listTypes[type];
  if (element === undefined) return scalarOf(type, value);
  const list: Value[] = [];
  for (let at = 20; at < value.length;) {
    const length = value.readInt32BE(at);
    at += 4;
    if (length < 0) list.push(null);
    else {
      list.push(scalarOf(element, value.subarray(at, at + length)));
      at += length;
    }
  }
  return list;
}

function scalarOf(type: number, value: Buffer): Value {
  if (type === 16) return value[0] === 1;
  if (type === 20) return Number(value.readBigInt64BE());
  return type === 25 ? value.toString() : Buffer.from(value);
}

const numbers = (value: Value | undefined): readonly number[] => value as readonly number[];
const booleans = (value: Value | undefined): readonly boolean[] => value as readonly boolean[];
const hexes = (value: Value | undefined): readonly string[] =>
  (value as readonly Buffer[]).map((bytes) => bytes.toString('hex'));
const hex = (value: Value | undefined): string => (value as Buffer).toString('hex');

const workKey = (lead: string, target: string): string => `${lead} ${target}`;

/** As `longestLeaseMs` of the product. */
const longestLeaseMs = 600_000;

const isElsewhere = ({ owner, lease }: OutstandingRow, receiver: string, now: number): boolean =>
  owner !== receiver && lease > now && lease <= now + longestLeaseMs;

/** 1 for a lease that another receiver has not ended. */
const unendedBy = ({ owner, lease }: OutstandingRow, receiver: string): number =>
  lease > 0 && owner !== receiver ? 1 : 0;

const outstandingOf = ({ outstanding }: Tables, leads: readonly string[]): readonly OutstandingRow[] =>
  leads.length === 0 ? [] : [...outstanding.values()].filter(({ lead }) => leads.includes(lead));

type Run = (values: readonly Value[], work: Working) => readonly ResultRow[];

const bindNonces: Run = ([end, nonces, digests, nonceNow], { tables, changes }) => {
  const boundDigests = hexes(digests);
  return hexes(nonces).map((nonce, i) => {
    const before = tables.nonces.get(nonce);
    const isFree = before === undefined || before.expires <= (nonceNow as number);
    const row = isFree ? { digest: boundDigests[i] ?? '', expires: end as number } : before;
    changes.set(tables.nonces, nonce, row);
    return { nonce, digest: row.digest };
  });
};

const insertLeads: Run = (given, { tables, changes, drawNumber }) => {
  const [count, leads, places, firstTimes, digests, counts, areAccepted, arePushed] = given;
  const drawn = Array.from({ length: count as number }, drawNumber);
  const earlier: string[] = [];
  const payloadDigests = hexes(digests);
  hexes(leads).forEach((id, i) => {
    const known = tables.ids.get(id);
    const attempts = numbers(counts)[i] ?? 0;
    const pushed = booleans(arePushed)[i] ?? false;
    const row = known
      ? { ...known, attempts: known.attempts + attempts, pushed: known.pushed || pushed }
      : {
          id,
          seq: drawn[(numbers(places)[i] ?? 0) - 1] ?? 0,
          firstAt: numbers(firstTimes)[i] ?? 0,
          digest: payloadDigests[i] ?? '',
          attempts,
          accepted: booleans(areAccepted)[i] ?? false,
          pushed,
          settled: '',
        };
    changes.set(tables.ids, id, row);
    const { seq, firstAt, digest, accepted, settled } = row;
    if (known !== undefined)
      earlier.push([id, seq, firstAt, digest, row.attempts, accepted ? 't' : 'f', settled].join(':'));
  });
  return [{ numbers: drawn.join(','), known: earlier.length === 0 ? null : earlier.join(',') }];
};

const insertDeliveries: Run = (given, { tables, changes }) => {
  const columns = given as readonly (readonly Value[])[];
  columns[0]?.forEach((seq, i) => {
    const [, receivedAt, lead, verdict, reason, detail, status, attempt, source, differs, remote, method] =
      columns.map((column) => column[i] ?? null);
    const [path, headers, body, leadStart, leadEnd, firstSeq] = columns
      .slice(12)
      .map((column) => column[i] ?? null);
    const leadKey = lead === null ? null : hex(lead);
    const row = { receivedAt, verdict, reason, detail, status, attempt, source, differs, remote, method };
    const more = { path, headers, body, leadStart, leadEnd, firstSeq, results: null };
    changes.set(
      tables.deliveries,
      seq as number,
      {
        seq,
        lead: leadKey,
        ...row,
        ...more,
      } as unknown as DeliveryRow,
    );
  });
  return [];
};

const grant: Run = (given, { tables, changes, now }) => {
  const [receiver, leaseMs, grantedAt, leads, targets, firstNumbers, firstTimes] = given;
  const targetKeys = hexes(targets);
  hexes(leads).forEach((lead, i) => {
    const key = workKey(lead, targetKeys[i] ?? '');
    const leased = { owner: hex(receiver), lease: now + (leaseMs as number) };
    const known = tables.outstanding.get(key);
    changes.set(
      tables.outstanding,
      key,
      known
        ? { ...known, ...leased, tries: known.tries + unendedBy(known, leased.owner) }
        : {
            lead,
            target: targetKeys[i] ?? '',
            seq: numbers(firstNumbers)[i] ?? 0,
            firstAt: numbers(firstTimes)[i] ?? 0,
            ...leased,
            since: grantedAt as number,
            dueAt: now,
            tries: 0,
            dead: false,
          },
    );
  });
  return [];
};

const updateOutstanding: Run = (given, { tables, changes }) => {
  const [leads, targets, owners, leases, allTries, dueTimes, areDead] = given;
  const [targetKeys, ownerKeys] = [hexes(targets), hexes(owners)];
  hexes(leads).forEach((lead, i) => {
    const key = workKey(lead, targetKeys[i] ?? '');
    const row = tables.outstanding.get(key);
    if (row === undefined) return;
    changes.set(tables.outstanding, key, {
      ...row,
      owner: ownerKeys[i] ?? '',
      lease: numbers(leases)[i] ?? 0,
      tries: numbers(allTries)[i] ?? 0,
      dueAt: numbers(dueTimes)[i] ?? 0,
      dead: booleans(areDead)[i] ?? false,
    });
  });
  return [];
};

const nothing: Run = () => [];

const statements: readonly (readonly [start: RegExp, run: Run])[] = [
  [/^SELECT pg_advisory_xact_lock_shared/, nothing],
  [/^INSERT INTO "leads"\.nonces/, bindNonces],
  [/^WITH drawn AS MATERIALIZED/, insertLeads],
  [
    /^SELECT encode\(digest, 'hex'\) AS digest, seq, first_at, attempts FROM "leads"\.erased/,
    ([digests], { tables }) =>
      hexes(digests).flatMap((digest) => {
        const row = tables.erased.get(digest);
        return row === undefined
          ? []
          : [{ digest, seq: row.seq, first_at: row.firstAt, attempts: row.attempts }];
      }),
  ],
  [
    /^SELECT encode\(lead, 'hex'\) AS lead, encode\(target, 'hex'\) AS target, encode\(owner/,
    ([receiver, , leads], { tables, now }) =>
      outstandingOf(tables, hexes(leads)).map((row) => ({
        lead: row.lead,
        target: row.target,
        owner: row.owner,
        lease: row.lease,
        is_elsewhere: isElsewhere(row, hex(receiver), now),
        now,
        tries: row.tries,
        since: row.since,
        due_at: row.dueAt,
        dead: row.dead,
        label: tables.targets.get(row.target)?.toString('hex') ?? null,
      })),
  ],
  [
    /^INSERT INTO "leads"\.contents/,
    ([seqs, headers, bodies], { tables, changes }) => {
      numbers(seqs).forEach((seq, i) => {
        const [header, body] = [headers, bodies].map((all) => (all as readonly Buffer[])[i]);
        if (header !== undefined && body !== undefined)
          changes.set(tables.contents, seq, { headers: header, body });
      });
      return [];
    },
  ],
  [/^INSERT INTO "leads"\.deliveries/, insertDeliveries],
  [/^INSERT INTO "leads"\.outstanding/, grant],
  [
    /^DELETE FROM "leads"\.nonces/,
    ([nonceNow, removed], { tables, changes }) => {
      const over = [...tables.nonces].filter(([, { expires }]) => expires <= (nonceNow as number));
      for (const [nonce] of over.slice(0, removed as number)) changes.delete(tables.nonces, nonce);
      return [];
    },
  ],
  [
    /^SELECT encode\(id, 'hex'\) AS id, seq, accepted/,
    ([leads], { tables }) =>
      hexes(leads).flatMap((id) => {
        const row = tables.ids.get(id);
        return row === undefined ? [] : [{ id, seq: row.seq, accepted: row.accepted, settled: row.settled }];
      }),
  ],
  [
    /^SELECT seq, verdict, status, encode\(results/,
    ([seqs], { tables }) =>
      numbers(seqs).flatMap((seq) => {
        const row = tables.deliveries.get(seq);
        if (row === undefined) return [];
        const { verdict, status, results } = row;
        return [{ seq, verdict, status, results: results?.toString('hex') ?? null }];
      }),
  ],
  [
    /^SELECT DISTINCT encode\(target, 'hex'\) AS target FROM "leads"\.receivers/,
    (_, { tables }) => [...tables.receivers.values()].map(({ target }) => ({ target })),
  ],
  [
    /^UPDATE "leads"\.ids SET accepted = new\.accepted/,
    ([changed, areAccepted, allSettled], { tables, changes }) => {
      const settledKeys = hexes(allSettled);
      hexes(changed).forEach((id, i) => {
        const row = tables.ids.get(id);
        if (row === undefined) return;
        const accepted = booleans(areAccepted)[i] ?? false;
        changes.set(tables.ids, id, { ...row, accepted, settled: settledKeys[i] ?? '' });
      });
      return [];
    },
  ],
  [
    /^DELETE FROM "leads"\.outstanding AS o USING/,
    ([leads, targets], { tables, changes }) => {
      const targetKeys = hexes(targets);
      hexes(leads).forEach((lead, i) =>
        changes.delete(tables.outstanding, workKey(lead, targetKeys[i] ?? '')),
      );
      return [];
    },
  ],
  [/^UPDATE "leads"\.outstanding AS o SET owner/, updateOutstanding],
  [
    /^UPDATE "leads"\.deliveries AS d SET verdict/,
    ([seqs, verdicts, statuses, allResults], { tables, changes }) => {
      numbers(seqs).forEach((seq, i) => {
        const row = tables.deliveries.get(seq);
        if (row === undefined) return;
        const verdict = (verdicts as readonly string[])[i] ?? '';
        const results = (allResults as readonly (Buffer | null)[])[i] ?? null;
        changes.set(tables.deliveries, seq, { ...row, verdict, status: numbers(statuses)[i] ?? 0, results });
      });
      return [];
    },
  ],
  [
    /^UPDATE "leads"\.ids SET accepted = true/,
    ([leads], { tables, changes }) => {
      for (const id of hexes(leads)) {
        const row = tables.ids.get(id);
        if (row !== undefined) changes.set(tables.ids, id, { ...row, accepted: true });
      }
      return [];
    },
  ],
  [
    /^SELECT seq, encode\(payload, 'hex'\)/,
    ([seqs], { tables }) =>
      numbers(seqs).flatMap((seq) => {
        const row = tables.deliveries.get(seq);
        if (row === undefined) return [];
        const { body } = tables.contents.get(row.firstSeq ?? -1) ?? row;
        return [
          { seq, payload: body.subarray(row.leadStart ?? 0, row.leadEnd ?? undefined).toString('hex') },
        ];
      }),
  ],
  [/^SELECT at \+ least/, (_, { now }) => [{ at: String(now) }]],
  [/^UPDATE "leads"\.nonce_clock/, nothing],
  [/^UPDATE "leads"\.write_checks/, nothing],
  [/^WITH (?:dropped|turn) AS/, nothing],
  [/^SELECT count\(\*\) FROM \(SELECT FROM "leads"\.ids/, nothing],
  [/^SELECT pg_sleep/, nothing],
  [/^SELECT concat\(set_config/, () => [{ settings: '' }]],
  [
    /^SELECT DISTINCT encode\(owner, 'hex'\) AS owner FROM "leads"\.outstanding/,
    (_, { tables }) =>
      [
        ...new Set(
          [...tables.outstanding.values()].filter(({ lease }) => lease > 0).map(({ owner }) => owner),
        ),
      ].map((owner) => ({ owner })),
  ],
  [
    /^SELECT encode\(owner, 'hex'\) AS owner, max\(seen\)/,
    (_, { tables }) =>
      [...tables.receivers.values()].map(({ owner, seen }) => ({ owner, seen: String(seen) })),
  ],
  [
    /^UPDATE "leads"\.outstanding SET lease = 0/,
    ([owner], { tables, changes }) => {
      for (const [key, row] of [...tables.outstanding])
        if (row.owner === hex(owner) && row.lease > 0)
          changes.set(tables.outstanding, key, { ...row, lease: 0, tries: row.tries + 1 });
      return [];
    },
  ],
  [
    /^WITH begun AS \(UPDATE "leads"\.outstanding AS o SET since = /,
    ([since, leads], { tables, changes, now }) => {
      const rows = outstandingOf(tables, hexes(leads));
      for (const row of rows)
        changes.set(tables.outstanding, workKey(row.lead, row.target), {
          ...row,
          since: since as number,
          dueAt: now,
          dead: false,
        });
      return [{ begun: new Set(rows.map(({ lead }) => lead)).size }];
    },
  ],
  [
    /^DELETE FROM "leads"\.receivers/,
    ([owner], { tables, changes }) => {
      for (const [key, row] of [...tables.receivers])
        if (row.owner === hex(owner)) changes.delete(tables.receivers, key);
      return [];
    },
  ],
  [
    /^INSERT INTO "leads"\.receivers/,
    ([owner, seen, targets], { tables, changes }) => {
      for (const target of hexes(targets))
        changes.set(tables.receivers, workKey(hex(owner), target), {
          owner: hex(owner),
          target,
          seen: seen as number,
        });
      return [];
    },
  ],
  [
    /^INSERT INTO "leads"\.targets/,
    ([names, labels], { tables, changes }) => {
      hexes(names).forEach((name, i) => {
        const label = (labels as readonly Buffer[])[i];
        if (label !== undefined && !tables.targets.has(name)) changes.set(tables.targets, name, label);
      });
      return [];
    },
  ],
];

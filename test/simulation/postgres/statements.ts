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
 * What the product's statements do, by how they begin, as `src/inbox/postgres/write-functions.ts` says it in SQL. One that is
 * not known is an error: whoever adds a statement there adds it here.
 */
export function execute({ text, parameters }: SentStatement, work: Working): readonly ResultRow[] {
  const values = parameters.map(valueOf);
  const [, name = ''] = /^SELECT "leads"\.(\w+_1)\(/.exec(text) ?? [];
  const call = functions[name];
  if (call !== undefined) {
    const answer = call(argumentsIn(text, values), work);
    return [{ [name]: answer === undefined ? '' : JSON.stringify(answer) }];
  }
  const [, run] = others.find(([start]) => start.test(text)) ?? [];
  if (run === undefined) throw new Error(`the simulated database does not know: ${text}`);
  return run(values, work);
}

/** Of a call: each is a parameter or NULL. */
function argumentsIn(text: string, values: readonly Value[]): readonly Value[] {
  const list = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
  if (list.includes('(')) throw new Error(`the simulated database does not know the arguments of: ${text}`);
  return list.split(',').map((argument) => {
    const [, number] = /^\s*\$(\d+)(?:::\w+)?\s*$/.exec(argument) ?? [];
    if (number !== undefined) return values[Number(number) - 1] ?? null;
    if (argument.trim() === 'NULL') return null;
    throw new Error(`the simulated database does not know the argument ${argument} of: ${text}`);
  });
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

const orNull = <T>(rows: readonly T[]): readonly T[] | null => (rows.length === 0 ? null : rows);

const erasedOf = (digests: readonly string[], { erased }: Tables): readonly ResultRow[] | null =>
  orNull(
    digests.flatMap((digest) => {
      const row = erased.get(digest);
      return row === undefined
        ? []
        : [{ digest, seq: row.seq, first_at: row.firstAt, attempts: row.attempts }];
    }),
  );

type Function = (given: readonly Value[], work: Working) => object | undefined;

const functions: Readonly<Record<string, Function>> = {
  take_1(given, work) {
    const [, count, isProbe, nonces, nonceDigests, nonceNow, nonceEnd, leads, places, firstTimes] = given;
    const [digests, counts, areAccepted, arePushed, erasedDigests, receiver] = given.slice(10);
    const { tables, changes, now } = work;
    const boundDigests = hexes(nonceDigests);
    const bound = hexes(nonces).map((nonce, i) => {
      const before = tables.nonces.get(nonce);
      const isFree = before === undefined || before.expires <= (nonceNow as number);
      const row = isFree ? { digest: boundDigests[i] ?? '', expires: nonceEnd as number } : before;
      changes.set(tables.nonces, nonce, row);
      return { nonce, digest: row.digest };
    });
    const drawn = Array.from({ length: count as number }, (_, i) =>
      isProbe === true ? -1 - i : work.drawNumber(),
    );
    const ids = hexes(leads);
    const earlier: string[] = [];
    const payloadDigests = hexes(digests);
    ids.forEach((id, i) => {
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
      if (known !== undefined)
        earlier.push(
          [id, row.seq, row.firstAt, row.digest, row.attempts, row.accepted ? 't' : 'f', row.settled].join(
            ':',
          ),
        );
    });
    const due =
      receiver === null || ids.length === 0
        ? null
        : orNull(
            outstandingOf(tables, ids).map((row) => ({
              lead: row.lead,
              target: row.target,
              is_elsewhere: isElsewhere(row, hex(receiver), now),
              tries: row.tries + unendedBy(row, hex(receiver)),
            })),
          );
    return {
      leads: [{ numbers: drawn.join(','), known: earlier.length === 0 ? null : earlier.join(',') }],
      nonces: orNull(bound),
      outstanding: due,
      erased: erasedOf(hexes(erasedDigests), tables),
    };
  },

  store_1(given, { tables, changes, now }) {
    const [contentNumbers, , contentHeaders, contentBodies] = given;
    numbers(contentNumbers).forEach((seq, i) => {
      const [headers, body] = [contentHeaders, contentBodies].map((all) => (all as readonly Buffer[])[i]);
      if (headers !== undefined && body !== undefined) changes.set(tables.contents, seq, { headers, body });
    });
    const columns = given.slice(4, 23) as readonly (readonly Value[])[];
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
    const [leads, targets, firstNumbers, firstTimes, receiver, leaseMs, grantedAt] = given.slice(23);
    const [nonceNow, noncesRemoved] = given.slice(30);
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
    const over = [...tables.nonces].filter(([, { expires }]) => expires <= (nonceNow as number));
    for (const [nonce] of over.slice(0, noncesRemoved as number)) changes.delete(tables.nonces, nonce);
    return undefined;
  },

  leased_1([leads, receiver, seqs, hasMoved, digests], { tables, now }) {
    const ids = hexes(leads);
    return {
      leads: orNull(
        ids.flatMap((id) => {
          const row = tables.ids.get(id);
          return row === undefined
            ? []
            : [{ id, seq: row.seq, accepted: row.accepted, settled: row.settled }];
        }),
      ),
      erased: erasedOf(hexes(digests), tables),
      outstanding: orNull(
        outstandingOf(tables, ids).map((row) => ({
          lead: row.lead,
          target: row.target,
          owner: row.owner,
          lease: row.lease,
          is_elsewhere: isElsewhere(row, hex(receiver), now),
          now,
          tries: row.tries,
          due_at: row.dueAt,
          dead: row.dead,
          label: tables.targets.get(row.target)?.toString('hex') ?? null,
        })),
      ),
      deliveries: orNull(
        numbers(seqs).flatMap((seq) => {
          const row = tables.deliveries.get(seq);
          if (row === undefined) return [];
          const { receivedAt: received_at, lead, verdict, status, results } = row;
          return [{ seq, received_at, lead, verdict, status, results: results?.toString('hex') ?? null }];
        }),
      ),
      receivers:
        hasMoved === true ? orNull([...tables.receivers.values()].map(({ target }) => ({ target }))) : null,
    };
  },

  settle_1(given, { tables, changes }) {
    const [changed, areAccepted, allSettled, removed, removedTargets] = given;
    const settledKeys = hexes(allSettled);
    hexes(changed).forEach((id, i) => {
      const row = tables.ids.get(id);
      if (row === undefined) return;
      const accepted = booleans(areAccepted)[i] ?? false;
      changes.set(tables.ids, id, { ...row, accepted, settled: settledKeys[i] ?? '' });
    });
    const removedKeys = hexes(removedTargets);
    hexes(removed).forEach((lead, i) =>
      changes.delete(tables.outstanding, workKey(lead, removedKeys[i] ?? '')),
    );
    const [leads, targets, owners, leases, allTries, dueTimes, areDead] = given.slice(5);
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
        dueAt: numbers(dueTimes)[i] ?? row.dueAt,
        dead: booleans(areDead)[i] ?? false,
      });
    });
    const [seqs, , verdicts, statuses, allResults] = given.slice(12);
    numbers(seqs).forEach((seq, i) => {
      const row = tables.deliveries.get(seq);
      if (row === undefined) return;
      const verdict = (verdicts as readonly string[])[i] ?? '';
      const results = (allResults as readonly (Buffer | null)[])[i] ?? null;
      changes.set(tables.deliveries, seq, { ...row, verdict, status: numbers(statuses)[i] ?? 0, results });
    });
    return undefined;
  },
};

type Other = readonly [RegExp, (values: readonly Value[], work: Working) => readonly ResultRow[]];

const nothing = (): readonly ResultRow[] => [];

const others: readonly Other[] = [
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
  [/^LOCK TABLE ONLY "leads"\.deliveries/, nothing],
  [/^SELECT pg_sleep/, nothing],
  [/^SELECT 'the role has its rights'/, nothing],
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

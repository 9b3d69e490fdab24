import { mostAttemptsCounted, removedPerMs } from '../query-types.ts';
import { writeFunctions } from './write-functions.ts';
import { block, identifier, integerLiteral, qualifiedName, Sql, sql } from './sql.ts';

/** One step of the schema. Between neighbouring releases a step only adds: both write the database while it is updated. */
export interface Migration {
  /** The oldest schema version whose programs may still write after it. */
  readonly writableFrom: number;
  /** `isNew`: there is nothing in the schema yet. */
  readonly statements: (schema: Sql, isNew: boolean) => Sql;
  /** An index that the step adds to `deliveries`, and that is made for each partition without a lock once the step is done. */
  readonly index?: { readonly name: string; readonly columns: string };
}

const idPartitions = 16;

/**
 * What comes from outside is `bytea`: `text` takes no NUL, and sorts by a locale. Times are milliseconds since the epoch.
 * `ids` holds every id for ever, `seq` and `first_at` being those of its first delivery, `settled` the targets that have
 * had the lead (their names of 16 bytes, after each other), and `outstanding` the others. `erased` has what stays of an erased lead, under a keyed digest of its id. `contents` has headers and body
 * of a delivery of several leads, once for all of them.
 */
const first: Migration = {
  writableFrom: 1,
  statements: (schema) => sql`
CREATE TABLE ${schema}.meta (
  one boolean PRIMARY KEY DEFAULT true CHECK (one), version int4 NOT NULL, writable_from int4 NOT NULL,
  lock_key int4 NOT NULL, target_key bytea NOT NULL
);
INSERT INTO ${schema}.meta VALUES (true, 0, 0, 1 + (random() * 2147483646)::int4, decode(
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
CREATE SEQUENCE ${schema}.delivery_numbers MINVALUE 0 START 0;
SELECT nextval(${qualifiedName(schema, 'delivery_numbers')});
CREATE TABLE ${schema}.ids (
  id bytea PRIMARY KEY, seq int8 NOT NULL, first_at int8 NOT NULL, digest bytea NOT NULL, attempts int4 NOT NULL,
  accepted boolean NOT NULL, pushed boolean NOT NULL, settled bytea NOT NULL DEFAULT ''
) PARTITION BY HASH (id);
${idPartitionsOf(schema)}
CREATE INDEX fetched ON ${schema}.ids (seq) WHERE NOT pushed;
CREATE TABLE ${schema}.deliveries (
  seq int8 NOT NULL, received_at int8 NOT NULL, lead bytea, verdict text NOT NULL, reason text, detail bytea,
  status int4 NOT NULL, attempt int4 NOT NULL, source text NOT NULL, differs bytea, remote bytea NOT NULL,
  method bytea NOT NULL, path bytea NOT NULL, headers bytea NOT NULL, body bytea NOT NULL, lead_start int4,
  lead_end int4, first_seq int8, results bytea, PRIMARY KEY (seq, received_at)
) PARTITION BY RANGE (received_at);
CREATE INDEX repeats ON ${schema}.deliveries (lead, seq) WHERE attempt > 1;
CREATE INDEX rejects ON ${schema}.deliveries (seq) WHERE reason IS NOT NULL;
CREATE INDEX sharing ON ${schema}.deliveries (first_seq) WHERE first_seq IS NOT NULL;
CREATE TABLE ${schema}.deliveries_default PARTITION OF ${schema}.deliveries DEFAULT;
CREATE TABLE ${schema}.contents (
  seq int8 NOT NULL, received_at int8 NOT NULL, headers bytea NOT NULL, body bytea NOT NULL,
  PRIMARY KEY (seq, received_at)
) PARTITION BY RANGE (received_at);
CREATE TABLE ${schema}.contents_default PARTITION OF ${schema}.contents DEFAULT;
CREATE TABLE ${schema}.dropped_repeats (lead bytea PRIMARY KEY, differing int8 NOT NULL, same int8 NOT NULL);
CREATE TABLE ${schema}.erased (
  digest bytea PRIMARY KEY, seq int8 NOT NULL, first_at int8 NOT NULL, attempts int4 NOT NULL
);
CREATE TABLE ${schema}.targets (name bytea PRIMARY KEY, label bytea NOT NULL);
CREATE TABLE ${schema}.outstanding (
  lead bytea NOT NULL, target bytea NOT NULL, seq int8 NOT NULL, first_at int8 NOT NULL, owner bytea NOT NULL,
  lease int8 NOT NULL, PRIMARY KEY (lead, target)
);
CREATE INDEX outstanding_by_target ON ${schema}.outstanding (target, lead);
CREATE TABLE ${schema}.receivers (
  owner bytea NOT NULL, target bytea NOT NULL, seen int8 NOT NULL, PRIMARY KEY (owner, target)
);
CREATE TABLE ${schema}.nonces (nonce bytea PRIMARY KEY, digest bytea NOT NULL, expires int8 NOT NULL);
CREATE INDEX nonces_by_time ON ${schema}.nonces (expires);
CREATE TABLE ${schema}.nonce_clock (one boolean PRIMARY KEY DEFAULT true CHECK (one), at int8 NOT NULL, noted timestamptz NOT NULL);
INSERT INTO ${schema}.nonce_clock VALUES (true, 0, clock_timestamp());
CREATE TABLE ${schema}.write_checks (one boolean PRIMARY KEY DEFAULT true CHECK (one), number int8 NOT NULL, filler bytea);
ALTER TABLE ${schema}.write_checks ALTER COLUMN filler SET STORAGE EXTERNAL;
INSERT INTO ${schema}.write_checks VALUES (true, 0, NULL);`,
};

function idPartitionsOf(schema: Sql): Sql {
  const parts = Array.from({ length: idPartitions }, (_, i) => {
    const name = identifier(`ids_${String(i).padStart(2, '0')}`);
    return sql`CREATE TABLE ${schema}.${name} PARTITION OF ${schema}.ids
      FOR VALUES WITH (MODULUS ${integerLiteral(idPartitions)}, REMAINDER ${integerLiteral(i)}) WITH (fillfactor = 80);`;
  });
  return parts.reduce((all, part) => sql`${all}\n${part}`);
}

/** What the release before writes is due at no time: it has no `due_at`. */
const tries: Migration = {
  writableFrom: 1,
  statements: (schema) => sql`
ALTER TABLE ${schema}.outstanding ADD COLUMN tries int4 NOT NULL DEFAULT 0, ADD COLUMN since int8,
  ADD COLUMN due_at int8, ADD COLUMN dead boolean NOT NULL DEFAULT false;
CREATE INDEX outstanding_due ON ${schema}.outstanding (target, (greatest(due_at, lease)))
  WHERE due_at IS NOT NULL AND NOT dead;
CREATE INDEX outstanding_dead ON ${schema}.outstanding (lead) WHERE dead;`,
};

const countedColumns = 'received_at, verdict, reason, source, attempt, created_at';

/**
 * What is deleted from `deliveries` is counted in the same transaction, by whichever release and whatever its role may
 * do. Each connection counts in rows of its own: for one that is shared, all writers would wait for each other.
 */
const counts: Migration = {
  writableFrom: 1,
  index: { name: 'counted', columns: countedColumns },
  statements: (schema, isNew) => sql`
ALTER TABLE ${schema}.deliveries ADD COLUMN created_at int8;
CREATE INDEX counted ON ${new Sql([isNew ? '' : 'ONLY'])} ${schema}.deliveries (${new Sql([countedColumns])});
CREATE TABLE ${schema}.removed (
  minute int8 NOT NULL, verdict text NOT NULL, reason text NOT NULL, source text NOT NULL, attempt int4 NOT NULL,
  backend int4 NOT NULL, count int8 NOT NULL, PRIMARY KEY (minute, verdict, reason, source, attempt, backend)
);
CREATE FUNCTION ${schema}.count_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $count$
${block(sql`BEGIN
  ${countRemoved(schema, sql`gone`)};
  RETURN NULL;
END`)} $count$;
CREATE TRIGGER removed_counted AFTER DELETE ON ${schema}.deliveries REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.count_removed();
REVOKE ALL ON FUNCTION ${schema}.count_removed() FROM PUBLIC;`,
};

/** Counts the rows of `deliveries` that are in `gone`, or takes them back where they stay. */
export const countRemoved = (schema: Sql, gone: Sql, doStay = false): Sql =>
  sql`INSERT INTO ${schema}.removed AS known SELECT received_at - received_at % ${integerLiteral(removedPerMs)}, verdict, coalesce(reason, ''), source,
    least(attempt, ${integerLiteral(mostAttemptsCounted)}), pg_backend_pid(), ${new Sql([doStay ? '-' : ''])}count(*) FROM ${gone} GROUP BY 1, 2, 3, 4, 5
  ON CONFLICT (minute, verdict, reason, source, attempt, backend) DO UPDATE SET count = known.count + excluded.count`;

/** The release before goes on with statements of its own. */
const functions: Migration = { writableFrom: 1, statements: writeFunctions };

/** `meta.version` counts those that a schema has had. */
export const migrations: readonly Migration[] = [first, tries, counts, functions];

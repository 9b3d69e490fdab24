import { block, integerLiteral, qualifiedName, Sql, sql, statements } from './sql.ts';
import { longestLeaseMs } from '../store-options.ts';
import { databaseTime } from './store-context.ts';

/**
 * What the transactions of deliveries and of targets run, as functions: each session of the server parses and plans them once,
 * also behind a pooler that keeps no prepared statement. They have the rights of whoever calls them, and name everything with
 * its schema. What one does is never changed: a later release adds one of another name, and this one goes on calling these.
 */
export const writeFunctions = (schema: Sql): Sql =>
  statements(...[take(schema), store(schema), leased(schema), settle(schema)]);

/** Their names. */
export const writeFunctionNames = [...['take_1', 'store_1', 'leased_1', 'settle_1']] as const;

const text = (part: string): Sql => new Sql([part]);

/**
 * `head`: name, parameters and what it returns. `body`: plpgsql, in which a name that a later step gives to a column as well
 * stays the parameter's or the variable's.
 */
const created = (schema: Sql, head: string, body: Sql): Sql => sql`
CREATE FUNCTION ${schema}.${text(head)} LANGUAGE plpgsql AS $leads$
#variable_conflict use_variable
${block(body)} $leads$;
GRANT EXECUTE ON FUNCTION ${schema}.${text(head.slice(0, head.indexOf('(')))} TO PUBLIC;`;

/**
 * For functions that search tables which grow. A plan that was made while a table was empty is kept, and would read all of it
 * later: whatever the statistics say, rows are looked up by their keys. (A transaction turns off compiling, which the estimated
 * cost of such plans would bring about.)
 */
const byKeys =
  'SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off';

/** A query that gives its rows as JSON, or null. */
const rows = (query: Sql): Sql => sql`(SELECT json_agg(given) FROM (${query}) AS given)`;

const erased = (schema: Sql): Sql =>
  rows(
    sql`SELECT encode(digest, 'hex') AS digest, seq, first_at, attempts FROM ${schema}.erased WHERE digest = ANY(digests)`,
  );

/** The time that leases end by, once the leads are locked: of the clock of `databaseTime`. */
const lockedAt = sql`locked_at := (1000 * extract(epoch FROM clock_timestamp()))::int8;`;

/** On rows of `outstanding`: another receiver hands the lead on. */
const isElsewhere = sql`owner <> receiver AND lease > locked_at AND
  lease <= locked_at + ${integerLiteral(longestLeaseMs)} AS is_elsewhere`;

/**
 * Takes deliveries: binds their nonces, inserts the ids that are new and counts the deliveries of the others, of which it gives
 * what is known. `places`: which of the numbers each lead's first delivery gets. `receiver`: null where leads go to no target.
 * Its order is that of all its locks: nonces, then ids, each sorted.
 *
 * First it lets readers know, while the transaction lasts, that every number it draws is beyond the last one
 * (`read/read-database.ts`). The lock is shared, and nobody waits for it. Of the real sequence each probe would take numbers,
 * for which a delivery needs a right as well. Whether leads were erased is looked up behind the locks on the ids: a process
 * that erases one of them has committed, or waits for this transaction.
 */
const take = (schema: Sql): Sql =>
  created(
    schema,
    `take_1(lock_key int4, numbers int8, is_probe boolean, nonces bytea[], nonce_digests bytea[], nonce_now int8,
  nonce_end int8, leads bytea[], places int8[], first_times int8[], payload_digests bytea[], counts int8[], are_accepted boolean[],
  are_pushed boolean[], digests bytea[], receiver bytea) RETURNS json ${byKeys}`,
    sql`DECLARE
  drawn int8[];
  bound_nonces json;
  earlier text;
  due json;
  locked_at int8;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(lock_key, (last_value & 2147483647)::int4) FROM ${schema}.delivery_numbers;
  IF cardinality(nonces) > 0 THEN
    WITH bound AS (
      INSERT INTO ${schema}.nonces AS bound (nonce, digest, expires)
      SELECT nonce, digest, nonce_end FROM unnest(nonces, nonce_digests) AS new (nonce, digest)
      ON CONFLICT (nonce) DO UPDATE SET
        digest = CASE WHEN bound.expires <= nonce_now THEN excluded.digest ELSE bound.digest END,
        expires = CASE WHEN bound.expires <= nonce_now THEN excluded.expires ELSE bound.expires END
      RETURNING encode(nonce, 'hex') AS nonce, encode(digest, 'hex') AS digest
    )
    SELECT json_agg(bound) INTO bound_nonces FROM bound;
  END IF;
  drawn := ARRAY(SELECT CASE WHEN is_probe THEN -place - (random() * 1e12)::int8
    ELSE nextval(${qualifiedName(schema, 'delivery_numbers')}::regclass) END FROM generate_series(1, numbers) AS place);
  IF cardinality(leads) > 0 THEN
    WITH taken AS (
      INSERT INTO ${schema}.ids AS known (id, seq, first_at, digest, attempts, accepted, pushed)
      SELECT id, drawn[place], first_at, digest, attempts, accepted, pushed
      FROM unnest(leads, places, first_times, payload_digests, counts, are_accepted, are_pushed)
        AS new (id, place, first_at, digest, attempts, accepted, pushed) ORDER BY id
      ON CONFLICT (id) DO UPDATE SET attempts = known.attempts + excluded.attempts, pushed = known.pushed OR excluded.pushed
      RETURNING id, seq, first_at, digest, attempts, accepted, settled
    )
    SELECT string_agg(concat_ws(':', encode(id, 'hex'), seq, first_at, encode(digest, 'hex'), attempts, accepted,
      encode(settled, 'hex')), ',') INTO earlier FROM taken WHERE seq NOT IN (SELECT unnest(drawn));
    IF receiver IS NOT NULL THEN
      ${lockedAt}
      due := ${rows(sql`SELECT encode(lead, 'hex') AS lead, encode(target, 'hex') AS target,
        ${isElsewhere}, tries + (lease > 0 AND owner <> receiver)::int AS tries
        FROM ${schema}.outstanding WHERE lead = ANY(leads)`)};
    END IF;
  END IF;
  RETURN json_build_object(
    'leads', json_build_array(json_build_object('numbers', array_to_string(drawn, ','), 'known', earlier)),
    'nonces', bound_nonces, 'outstanding', due,
    'erased', CASE WHEN cardinality(digests) > 0 THEN ${erased(schema)} END);
END`,
  );

/** Of `deliveries`, and the types of the arrays in which `store_1` is given them. */
const columns = {
  ...{ seq: 'int8', received_at: 'int8', lead: 'bytea', verdict: 'text', reason: 'text', detail: 'bytea' },
  ...{ status: 'int8', attempt: 'int8', source: 'text', differs: 'bytea', remote: 'bytea', method: 'bytea' },
  ...{
    path: 'bytea',
    headers: 'bytea',
    body: 'bytea',
    lead_start: 'int8',
    lead_end: 'int8',
    first_seq: 'int8',
  },
  created_at: 'int8',
};

const names = Object.keys(columns);

const arrays = Object.entries(columns).map(([name, type]) => `all_${name} ${type}[]`);

/**
 * Stores contents that several deliveries share, and deliveries, leases leads to targets, and removes some of the nonces that
 * are over. A lead that came is due as well: where this receiver is killed, it is to be tried again.
 */
const store = (schema: Sql): Sql =>
  created(
    schema,
    `store_1(content_numbers int8[], content_times int8[], content_headers bytea[], content_bodies bytea[],
  ${arrays.join(', ')},
  leads bytea[], targets bytea[], first_numbers int8[], first_times int8[], receiver bytea, lease_ms int8, granted_at int8,
  nonce_now int8, nonces_removed int8) RETURNS void ${byKeys}`,
    sql`DECLARE
  now int8 := ${databaseTime};
BEGIN
  IF cardinality(content_numbers) > 0 THEN
    INSERT INTO ${schema}.contents (seq, received_at, headers, body)
      SELECT * FROM unnest(content_numbers, content_times, content_headers, content_bodies);
  END IF;
  IF cardinality(all_seq) > 0 THEN
    INSERT INTO ${schema}.deliveries (${text(names.join(', '))})
      SELECT * FROM unnest(${text(names.map((name) => `all_${name}`).join(', '))});
  END IF;
  IF cardinality(leads) > 0 THEN
    INSERT INTO ${schema}.outstanding AS known (lead, target, seq, first_at, owner, lease, since, due_at)
      SELECT lead, target, seq, first_at, receiver, now + lease_ms, granted_at, now
      FROM unnest(leads, targets, first_numbers, first_times) AS new (lead, target, seq, first_at)
      ON CONFLICT (lead, target) DO UPDATE SET owner = excluded.owner, lease = excluded.lease,
        tries = known.tries + (known.lease > 0 AND known.owner <> excluded.owner)::int, since = coalesce(known.since, excluded.since), due_at = coalesce(known.due_at, excluded.due_at);
  END IF;
  IF nonces_removed > 0 THEN
    DELETE FROM ${schema}.nonces WHERE nonce IN (SELECT nonce FROM ${schema}.nonces WHERE expires <= nonce_now
      ORDER BY expires LIMIT nonces_removed FOR UPDATE SKIP LOCKED);
  END IF;
END`,
  );

/** Locks leads that are leased, released or done, sorted, and gives what is known of them. `numbers`: of deliveries. */
const leased = (schema: Sql): Sql =>
  created(
    schema,
    `leased_1(leads bytea[], receiver bytea, numbers int8[], has_moved boolean, digests bytea[])
  RETURNS json ${byKeys}`,
    sql`DECLARE
  locked json := ${rows(sql`SELECT encode(id, 'hex') AS id, seq, accepted, encode(settled, 'hex') AS settled
    FROM ${schema}.ids WHERE id = ANY(leads) ORDER BY ids.id FOR UPDATE`)};
  locked_at int8;
BEGIN
  ${lockedAt}
  RETURN json_build_object('leads', locked, 'erased', ${erased(schema)},
    'outstanding', ${rows(sql`SELECT encode(lead, 'hex') AS lead, encode(target, 'hex') AS target,
      encode(owner, 'hex') AS owner, lease, ${isElsewhere}, locked_at AS now, tries, due_at, dead,
      (SELECT encode(label, 'hex') FROM ${schema}.targets WHERE name = target) AS label
      FROM ${schema}.outstanding WHERE lead = ANY(leads)`)},
    'deliveries', ${rows(sql`SELECT seq, received_at, encode(lead, 'hex') AS lead, verdict, status,
      encode(results, 'hex') AS results FROM ${schema}.deliveries WHERE seq = ANY(numbers)`)},
    'receivers', CASE WHEN has_moved
      THEN ${rows(sql`SELECT DISTINCT encode(target, 'hex') AS target FROM ${schema}.receivers`)} END);
END`,
  );

/** Writes what became of leads and deliveries that were locked. */
const settle = (schema: Sql): Sql =>
  created(
    schema,
    `settle_1(changed bytea[], are_accepted boolean[], all_settled bytea[], removed bytea[], removed_targets bytea[],
  leads bytea[], targets bytea[], owners bytea[], leases int8[], all_tries int8[], due_times int8[], are_dead boolean[],
  numbers int8[], times int8[], verdicts text[], statuses int8[], all_results bytea[]) RETURNS void ${byKeys}`,
    sql`BEGIN
  IF cardinality(changed) > 0 THEN
    UPDATE ${schema}.ids AS known SET accepted = new.accepted, settled = new.settled
      FROM unnest(changed, are_accepted, all_settled) AS new (id, accepted, settled) WHERE known.id = new.id;
  END IF;
  IF cardinality(removed) > 0 THEN
    DELETE FROM ${schema}.outstanding AS known USING unnest(removed, removed_targets) AS old (lead, target)
      WHERE known.lead = old.lead AND known.target = old.target;
  END IF;
  IF cardinality(leads) > 0 THEN
    UPDATE ${schema}.outstanding AS known SET owner = new.owner, lease = new.lease, tries = new.tries, due_at = new.due_at,
      dead = new.dead
      FROM unnest(leads, targets, owners, leases, all_tries, due_times, are_dead)
        AS new (lead, target, owner, lease, tries, due_at, dead)
      WHERE known.lead = new.lead AND known.target = new.target;
  END IF;
  IF cardinality(numbers) > 0 THEN
    UPDATE ${schema}.deliveries AS known SET verdict = new.verdict, status = new.status, results = new.results
      FROM unnest(numbers, times, verdicts, statuses, all_results) AS new (seq, received_at, verdict, status, results)
      WHERE known.seq = new.seq AND known.received_at = new.received_at;
  END IF;
END`,
  );

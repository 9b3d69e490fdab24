import { hostname } from 'node:os';
import { describeSelf, isAlive, parseHolder } from '../../files/lock/lock-owner.ts';
import type { Connection } from './connection/database-connections.ts';
import { bytesOf, numberOf, textOf } from './sql/result-row.ts';
import { type Sql, sql } from './sql/sql.ts';
import { bytesOfText, textOfBytes } from './sql/text-bytes.ts';

/** A receiver on another host that wrote nothing for so long counts as dead, in milliseconds: it cannot be looked at. */
const silentMs = 7 * 86_400_000;

/** Between two notes that a receiver still runs, at least, in milliseconds. */
const seenEveryMs = 3_600_000;

/** The name that this receiver's leases are stored under. `pid`: of this process. */
export const leaseOwner = async (pid: number): Promise<Uint8Array> =>
  bytesOfText(JSON.stringify(await describeSelf(pid)));

/** Ends the leases of receivers that were killed on this host, and forgets those that do not run any more. */
export async function removeDeadReceivers(
  connection: Connection,
  schema: Sql,
  { pid, now }: { readonly pid: number; readonly now: number },
): Promise<void> {
  const [leased = [], running = []] = await connection.run(
    sql`SELECT DISTINCT encode(owner, 'hex') AS owner FROM ${schema}.outstanding WHERE lease > 0;
      SELECT encode(owner, 'hex') AS owner, max(seen) AS seen FROM ${schema}.receivers GROUP BY receivers.owner;`,
  );
  for (const { owner } of leased) {
    if (!(await isDead(textOf(owner), pid))) continue;
    await connection.run(sql`UPDATE ${schema}.outstanding SET lease = 0 WHERE (lead, target) IN (
      SELECT lead, target FROM ${schema}.outstanding WHERE owner = ${bytesOf(owner)} AND lease > 0 FOR UPDATE SKIP LOCKED)`);
  }
  for (const { owner, seen } of running) {
    const isElsewhere = parseHolder(textOfBytes(bytesOf(owner)))?.host !== hostname();
    const isSilent = isElsewhere && numberOf(seen) < now - silentMs;
    if (isSilent || (await isDead(textOf(owner), pid))) {
      await connection.run(sql`DELETE FROM ${schema}.receivers WHERE owner = ${bytesOf(owner)}`);
    }
  }
}

async function isDead(owner: string, pid: number): Promise<boolean> {
  const holder = parseHolder(textOfBytes(bytesOf(owner)));
  return holder !== undefined && !(await isAlive(holder, pid));
}

/** This receiver, and the stored names of the targets that it hands each lead to. */
export class RunningReceiver {
  readonly #schema: Sql;
  readonly #owner: Uint8Array;
  #seen: number;

  constructor(schema: Sql, owner: Uint8Array, now: number) {
    this.#schema = schema;
    this.#owner = owner;
    this.#seen = now;
  }

  added(targets: readonly Uint8Array[]): Sql {
    return sql`INSERT INTO ${this.#schema}.receivers (owner, target, seen)
      SELECT ${this.#owner}, target, ${this.#seen} FROM unnest(${targets}::bytea[]) AS target ON CONFLICT DO NOTHING;`;
  }

  /** That it still runs; undefined while the last note is recent. */
  renewed(now: number): Sql | undefined {
    if (now - this.#seen < seenEveryMs) return undefined;
    this.#seen = now;
    return sql`UPDATE ${this.#schema}.receivers SET seen = ${now} WHERE owner = ${this.#owner};`;
  }

  removed(): Sql {
    return sql`DELETE FROM ${this.#schema}.receivers WHERE owner = ${this.#owner};`;
  }
}

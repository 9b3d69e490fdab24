import { noncesRemovedPerAdded } from '../../store-limits.ts';
import type { Database, Statement } from '../libsql.ts';

/**
 * The replay guard: each nonce is good for one body, for as long as a delivery that carries it could verify. Times are
 * those of a clock that only goes while a receiver runs: the system's time may be set a day ahead and back again.
 */
export class NonceTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #renew: Statement;
  readonly #remove: Statement;
  readonly #keepTime: Statement;
  readonly #startedAt: number;
  readonly #lifetimeMs: number;

  /** `startedAt`: the time when the clock that gives `steady` was at 0. */
  constructor(database: Database, lifetimeMs: number, startedAt: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#startedAt = startedAt;
    this.#insert = database.prepare('INSERT INTO nonces VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#find = database.prepare('SELECT digest, expires FROM nonces WHERE nonce = ?');
    this.#renew = database.prepare('UPDATE nonces SET digest = ?, expires = ? WHERE nonce = ?');
    this.#remove = database.prepare(
      'DELETE FROM nonces WHERE nonce IN (SELECT nonce FROM nonces WHERE expires <= ? ORDER BY expires LIMIT ?)',
    );
    this.#keepTime = database.prepare('UPDATE nonce_clock SET at = ?1 WHERE at < ?1');
  }

  /** Binds the nonce to the body's digest; false when it is bound to another one. Inside a transaction. */
  bind(nonce: string, digest: Uint8Array, steady: number): boolean {
    const now = Math.round(this.#startedAt + steady);
    if (this.#insert.run([nonce, digest, now + this.#lifetimeMs]).changes === 1) return true;
    const bound = this.#find.get([nonce]);
    if (bound === undefined) return false;
    if (Number(bound['expires']) <= now) {
      this.#renew.run([digest, now + this.#lifetimeMs, nonce]);
      return true;
    }
    return Buffer.compare(bound['digest'] as Uint8Array, digest) === 0;
  }

  /** Removes some of the expired ones. Inside a transaction. */
  removeExpired(steady: number, added: number): void {
    const now = Math.round(this.#startedAt + steady);
    this.#keepTime.run([now]);
    this.#remove.run([now, added * noncesRemovedPerAdded]);
  }
}

/** When the clock that gives `steady` now was at 0, on the clock of the nonces. */
export const nonceClockStart = (database: Database, steady: number): number =>
  Number(database.prepare('SELECT at FROM nonce_clock').get([])?.['at'] ?? 0) - steady;

import { noncesRemovedPerAdded } from '../../store-limits.ts';
import type { Database, Statement } from '../libsql.ts';

/** The replay guard: each nonce is good for one body, for as long as a delivery that carries it could verify. */
export class NonceTable {
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #renew: Statement;
  readonly #remove: Statement;
  readonly #lifetimeMs: number;

  constructor(database: Database, lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#insert = database.prepare('INSERT INTO nonces VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#find = database.prepare('SELECT digest, expires FROM nonces WHERE nonce = ?');
    this.#renew = database.prepare('UPDATE nonces SET digest = ?, expires = ? WHERE nonce = ?');
    this.#remove = database.prepare(
      'DELETE FROM nonces WHERE nonce IN (SELECT nonce FROM nonces WHERE expires <= ? ORDER BY expires LIMIT ?)',
    );
  }

  /** Binds the nonce to the body's digest; false when it is bound to another one. Inside a transaction. */
  bind(nonce: string, digest: Uint8Array, now: number): boolean {
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
  removeExpired(now: number, added: number): void {
    this.#remove.run([now, added * noncesRemovedPerAdded]);
  }
}

import type { Database, Statement } from './database.ts';

/** How many outlived nonces are cleared away for each that is added: the guard shrinks faster than it grows. */
export const clearedPerAdded = 2;

/** The replay guard: each nonce is good for one body, for as long as a delivery that carries it could verify. */
export class Nonces {
  readonly #insert: Statement;
  readonly #find: Statement;
  readonly #renew: Statement;
  readonly #clear: Statement;
  readonly #lifetimeMs: number;

  /** `lifetimeMs`: after that a delivery with the same nonce fails its timestamp check anyway. */
  constructor(database: Database, lifetimeMs: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#insert = database.prepare('INSERT INTO nonces VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    this.#find = database.prepare('SELECT digest, expires FROM nonces WHERE nonce = ?');
    this.#renew = database.prepare('UPDATE nonces SET digest = ?, expires = ? WHERE nonce = ?');
    this.#clear = database.prepare(
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

  /** Forgets what is past its time. Inside a transaction. */
  clear(now: number, added: number): void {
    this.#clear.run([now, added * clearedPerAdded]);
  }
}

import { cannotStore, type CannotStoreError } from '../cannot-store-error.ts';
import type { StoreOptions } from '../inbox-options.ts';
import type { FileIdentity } from './file/file-identity.ts';
import { isDamage, recoverCommand } from './sqlite-errors.ts';

/** What the operator of a receiver has to know about the file, each said once. */
export class StoreWarnings {
  readonly #file: FileIdentity;
  readonly #options: Pick<StoreOptions, 'location' | 'warn'>;
  #gone: CannotStoreError | undefined;
  #isDamageSaid = false;

  constructor(file: FileIdentity, options: Pick<StoreOptions, 'location' | 'warn'>) {
    this.#file = file;
    this.#options = options;
  }

  /** Throws a `CannotStoreError` in every call after the file was deleted or replaced: what is written would be lost. */
  verifyInPlace(): void {
    const change = this.#gone === undefined ? this.#file.change() : undefined;
    if (change !== undefined) {
      const { location, warn } = this.#options;
      this.#gone = cannotStore(location, { reason: `${change} while in use` }, undefined);
      warn(
        `${change} while it was in use: every delivery is answered 503 until this receiver is restarted, ` +
          'and what was stored before is only in the file that is gone',
      );
    }
    if (this.#gone !== undefined) throw this.#gone;
  }

  damaged(detail: string): void {
    if (this.#isDamageSaid) return;
    this.#isDamageSaid = true;
    const { location, warn } = this.#options;
    warn(
      `the inbox ${location} is damaged (${detail}): leads in the damaged part are answered 503; ` +
        `stop this receiver and run '${recoverCommand(location)}', which saves what the inbox still holds`,
    );
  }

  /** A step failed with what the database threw. */
  failed(error: unknown): void {
    if (isDamage(error)) this.damaged((error as Error).message);
  }
}

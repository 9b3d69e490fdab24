import { OutputError } from '../errors.ts';

/** The inbox did not take a delivery: disk full, I/O error, locked too long. The sender is to try again. */
export class CannotStoreError extends OutputError {}

/** `reason`: in a few words; `cause`: what the store itself threw. */
export const cannotStore = (
  location: string,
  { reason, hint }: { readonly reason: string; readonly hint?: string | undefined },
  cause: unknown,
): CannotStoreError =>
  new CannotStoreError(`cannot store in the inbox ${location}: ${reason}`, { hint, cause });

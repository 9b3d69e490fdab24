import type { Delivery } from '../delivery.ts';
import type { Key, Scheme } from '../scheme.ts';

/** What would have matched, or why nothing does. Never holds a secret or a signature. */
export interface Finding {
  /** One sentence. */
  readonly what: string;
  /** The flags with which `listen` takes such deliveries; undefined where none do. */
  readonly flags?: string | undefined;
  /** Flags of `verify` alone, in addition: about this one capture, and nothing that a receiver should accept. */
  readonly captureFlags?: string | undefined;
}

/** Counts what is tried for one explanation. */
export class Search {
  tried = 0;

  matches(scheme: Scheme, delivery: Delivery, keys: readonly Key[]): boolean {
    this.tried += 1;
    return scheme.authenticate(delivery, keys).ok;
  }
}

/**
 * `--secret` or `--token` for a scheme that is found, where the one that was given must change. The shell takes the secret
 * from the variable that the scheme here reads, so that no output holds it. `shell` makes it from `$SECRET`.
 */
export function secretFlag(here: string, found: string, shell?: string): string | undefined {
  const isToken = found === 'token';
  if (shell === undefined && isToken === (here === 'token')) return undefined;
  const variable = here === 'token' ? 'LEADS_WEBHOOK_TOKEN' : 'LEADS_WEBHOOK_SECRET';
  return `--${isToken ? 'token' : 'secret'} ${(shell ?? '"$SECRET"').replaceAll('SECRET', variable)}`;
}

/** Flags as one string, those that are undefined left out. */
export const joinFlags = (...flags: readonly (string | undefined)[]): string =>
  flags.filter((flag) => flag !== undefined).join(' ');

/** A text as one word of a shell, in quotes where it needs them. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

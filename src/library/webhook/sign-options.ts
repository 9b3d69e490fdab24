import type { Lead } from '../lead/lead.ts';
import type { SchemeChoice } from './scheme-choice.ts';

export interface SignOptions extends Omit<SchemeChoice, 'toleranceMs' | 'publicUrl'> {
  /** Where it will be sent; needed where the scheme signs the URL. */
  readonly url?: string | URL | undefined;
  /** Of the delivery, the same for each attempt, where the scheme sends one. Default: a new one. */
  readonly id?: string | undefined;
  /** The time to sign, in milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/** A request as the service would send it: the second argument of `fetch`. */
export interface SignedDelivery {
  readonly method: 'POST';
  /** By their names in lower case. */
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A lead as its bytes, its JSON text, an object that is written as JSON, or one that was received: its bytes go as they came. */
export type SignedLead = Lead | Uint8Array | string | Readonly<Record<string, unknown>>;

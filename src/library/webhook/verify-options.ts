import type { RejectReason } from '../../webhook/rejection.ts';
import type { Lead } from '../lead/lead.ts';
import type { RequestLimits } from './read-delivery.ts';
import type { SchemeChoice } from './scheme-choice.ts';

export interface VerifyOptions extends SchemeChoice, RequestLimits {
  /**
   * Where the lead is in the body: a JSON Pointer such as `/data` (an array there is several leads), or `auto`, which finds
   * it in an envelope where that is clear. Default `auto`.
   */
  readonly leadAt?: string | undefined;
  /** The time against which a signed time is checked, in milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/** A genuine delivery. Whether its leads came before is not known here: the receiver's inbox knows. */
export interface Verified {
  readonly ok: true;
  /** At least one. */
  readonly leads: readonly Lead[];
  /** Index of the secret that matched: while it is not 0, an old secret is still in use. */
  readonly secret: number;
}

/** A delivery that must not be taken. */
export interface Refused {
  readonly ok: false;
  /** The HTTP status to answer: 401 for a wrong, missing or late signature, 400, 405, 408, 413 or 415 for another fault. */
  readonly status: number;
  /** A stable code, such as `wrong_credential`. */
  readonly reason: RejectReason;
  /** One sentence for the operator; it holds no secret and no expected signature, and is not meant for the sender. */
  readonly hint: string;
}

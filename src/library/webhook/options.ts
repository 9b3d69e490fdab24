import type { RejectReason } from '../../webhook/delivery-answer.ts';
import type { CustomOptions, SchemeOptions } from '../../webhook/scheme-options.ts';
import type { PresetName } from '../../webhook/presets.ts';
import type { Lead } from './lead.ts';

/** How a delivery is authenticated; `leads help schemes` says what each of them signs. */
export type SchemeName = 'token' | PresetName;

/** A scheme with options of its own. */
export type SchemeDefinition =
  | ({ readonly name: 'token' } & Pick<
      SchemeOptions,
      'tokenHeader' | 'timestampHeader' | 'timestampFormat' | 'nonceHeader'
    >)
  | ({ readonly name: 'standard-webhooks' } & Pick<SchemeOptions, 'headerPrefix'>)
  | ({ readonly name: 'custom'; readonly signatureHeader: string } & Omit<CustomOptions, 'signatureHeader'>)
  | ({ readonly name: 'meta' } & Pick<SchemeOptions, 'verifyToken'>)
  | { readonly name: SchemeName };

/** A text is compared or decoded as the scheme says; bytes are the key itself, decoded already, or a PEM file. */
export type SecretInput = string | Uint8Array;

/** Who may deliver: the same for `verify`, `sign` and `explain`. */
export interface SchemeChoice {
  readonly scheme: SchemeName | SchemeDefinition;
  /**
   * At least one. Any of them may match, for rotation; the first one signs. An environment variable can be given as it is:
   * one that is not set is a `ConfigError`.
   */
  readonly secrets: SecretInput | undefined | readonly (SecretInput | undefined)[];
  /** How far a signed time may lie from now, either way, in milliseconds. Default 5 minutes, or what the vendor says. */
  readonly toleranceMs?: number | undefined;
  /** The URL that senders are given, where a proxy rewrites it; for schemes that sign it. */
  readonly publicUrl?: string | URL | undefined;
}

/** What the CLI's receiver takes: 1 MiB within 15 s. */
export const defaultBodyLimits = { maxBytes: 1024 * 1024, timeoutMs: 15_000 } as const;

/** What a client may cost. */
export interface RequestLimits {
  /** In bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** Until the body is complete, in milliseconds. Default 15 s. */
  readonly bodyTimeoutMs?: number | undefined;
}

export interface VerifyOptions extends SchemeChoice, RequestLimits {
  /**
   * Where the lead is in the body: a JSON Pointer such as `/data` (an array there is several leads), or `auto`, which finds
   * it in an envelope where that is clear. Default `auto`.
   */
  readonly leadAt?: string | undefined;
  /** The field that is a lead's id, where that is not `id`. */
  readonly idField?: string | undefined;
  /** False: the signature and its time alone are checked, whatever the method and the body are. Default true. */
  readonly lead?: boolean | undefined;
  /** The time against which a signed time is checked, in milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/** A genuine delivery. Whether its leads came before is not known here. */
export interface Verified {
  readonly ok: true;
  /** At least one; none with `lead: false`. */
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

export interface SignOptions extends Pick<SchemeChoice, 'secrets'> {
  readonly scheme: SchemeName | SchemeDefinition;
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

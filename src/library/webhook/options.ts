import { nearest } from '../../output/suggest.ts';
import type { RejectReason } from '../../webhook/delivery-answer.ts';
import type { CustomOptions, SchemeOptions } from '../../webhook/scheme-options.ts';
import type { PresetName } from '../../webhook/vendor-presets.ts';
import type { Lead } from './lead.ts';

/** The name of a scheme; `leads help schemes` lists what each of them signs. */
export type SchemeName = 'token' | PresetName;

/** A scheme with its own options. */
export type SchemeDefinition =
  | ({ readonly name: 'token' } & Pick<
      SchemeOptions,
      'tokenHeader' | 'timestampHeader' | 'timestampFormat' | 'nonceHeader'
    >)
  | ({ readonly name: 'standard-webhooks' } & Pick<SchemeOptions, 'headerPrefix'>)
  | ({ readonly name: 'custom'; readonly signatureHeader: string } & Omit<CustomOptions, 'signatureHeader'>)
  | ({ readonly name: 'meta' } & Pick<SchemeOptions, 'verifyToken'>)
  | { readonly name: SchemeName };

/** The scheme compares or decodes a text; bytes are the decoded key itself, or a PEM file. */
export type SecretInput = string | Uint8Array;

/** The scheme and the secrets by which deliveries are authenticated. */
export interface SchemeChoice {
  readonly scheme: SchemeName | SchemeDefinition;
  /**
   * A secret or several: any of them may match, for rotation, and the first one signs. They may be
   * environment variables as they are: one that is not set is a `ConfigError`.
   */
  readonly secrets: SecretInput | undefined | readonly (SecretInput | undefined)[];
  /**
   * The largest distance between a signed time and now, in either direction, in milliseconds. Default 5
   * minutes, or the vendor's limit.
   */
  readonly toleranceMs?: number | undefined;
  /** The URL to which senders deliver, where a proxy rewrites it; only for schemes that sign the URL. */
  readonly publicUrl?: string | URL | undefined;
}

/** Limits for the body of one request. */
export interface RequestLimits {
  /** The largest body in bytes. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined;
  /** The time until the body must be complete, in milliseconds. Default 15,000. */
  readonly bodyTimeoutMs?: number | undefined;
}

export interface VerifyOptions extends SchemeChoice, RequestLimits {
  /**
   * The place of the lead in the body: a JSON Pointer such as `/data` (an array there holds several leads),
   * or `auto`, which finds the lead in an envelope where only one reading is possible. Default `auto`.
   */
  readonly leadAt?: string | undefined;
  /** The field that identifies a lead. Default `id`. */
  readonly idField?: string | undefined;
  /** False checks the signature and its time alone, and accepts any method and body. Default true. */
  readonly lead?: boolean | undefined;
  /** The time to compare a signed time with, in milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/** A genuine delivery. It may repeat leads of an earlier one: the application compares their ids. */
export interface Verified {
  readonly ok: true;
  /** At least one lead; none with `lead: false`. */
  readonly leads: readonly Lead[];
  /** The index of the secret that matched: above 0, an old secret is still in use. */
  readonly secret: number;
}

/** A delivery that the application must not accept. */
export interface Refused {
  readonly ok: false;
  /**
   * The HTTP status to answer: 401 for a wrong, missing or late signature, and 400, 405, 408, 413 or 415 for
   * another fault.
   */
  readonly status: number;
  /** A stable code, such as `wrong_credential`. */
  readonly reason: RejectReason;
  /** A sentence for the operator, not for the sender. It holds no secret and no expected signature. */
  readonly hint: string;
}

export interface SignOptions extends Pick<SchemeChoice, 'secrets'> {
  readonly scheme: SchemeName | SchemeDefinition;
  /** The address that the delivery is sent to; required by schemes that sign the URL. */
  readonly url?: string | URL | undefined;
  /** The id of the delivery, for schemes that sign one; every attempt has the same. Default: a new one. */
  readonly id?: string | undefined;
  /** The time to sign, in milliseconds since the epoch. Default: now. */
  readonly now?: number | undefined;
}

/** The second argument of `fetch`. */
export interface SignedDelivery {
  readonly method: 'POST';
  /** The names are in lower case. */
  readonly headers: Record<string, string>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * A lead as bytes or JSON text, an object that is written as JSON, or a received lead, whose bytes are sent
 * unchanged.
 */
export type SignedLead = Lead | Uint8Array | string | Readonly<Record<string, unknown>>;

/** All options of `T` as keys: a new option does not compile until its name is listed. */
export type OptionNames<T> = Readonly<Record<keyof T, true>>;

export const choiceOptionNames: OptionNames<SchemeChoice> = {
  scheme: true,
  secrets: true,
  toleranceMs: true,
  publicUrl: true,
};

export const verifyOptionNames: OptionNames<VerifyOptions> = {
  ...choiceOptionNames,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
  leadAt: true,
  idField: true,
  lead: true,
  now: true,
};

/**
 * Throws a `TypeError` for an unknown option, and for a number that is not finite: comparisons with NaN are false, so
 * that it would pass every check. `toleranceMs` is checked later, together with the scheme that it belongs to.
 */
export function checkOptions(
  options: Partial<VerifyOptions>,
  optionNames: Readonly<Record<string, true>>,
  owner: string,
): void {
  requireKnownOptions(options, optionNames, owner);
  // An option that is absent passes: any finite number stands for it.
  const { now = 1, maxBodyBytes = 1, bodyTimeoutMs = 1 } = options;
  for (const [name, value] of Object.entries({ now, maxBodyBytes, bodyTimeoutMs })) {
    if (!Number.isFinite(value))
      throw new TypeError(`${name} is ${String(value)}, which is no finite number`);
  }
}

/**
 * Throws a `TypeError` for an option that is unknown or misspelt, and for a value that is no object. `owner`
 * is the function that takes the options.
 */
export function requireKnownOptions(
  options: unknown,
  optionNames: Readonly<Record<string, true>>,
  owner: string,
): void {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${owner} takes its options as an object`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(optionNames, name));
  if (unknown !== undefined) throw unknownOption(unknown, Object.keys(optionNames), owner);
}

export function unknownOption(name: string, optionNames: readonly string[], owner: string): TypeError {
  const near = nearest(name, optionNames);
  const help = near === undefined ? `the options are ${optionNames.join(', ')}` : `did you mean '${near}'?`;
  return new TypeError(`${owner} has no option '${name}': ${help}`);
}

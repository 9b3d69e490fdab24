/** One delivery and what a verifier must say of it, as it stands in vectors.json. */
export interface Vector {
  /** The scheme, and what was done to a genuine delivery. */
  readonly id: string;
  /** A name among `schemes`. */
  readonly scheme: string;
  readonly algorithm: string;
  /** What a receiver holds: any of them may match. Shared secrets, or public keys in PEM or after `whpk_`. */
  readonly keys: readonly string[];
  /** Seconds since the epoch at which the delivery is verified. */
  readonly now: number;
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
    /** In base64. */
    readonly body: string;
  };
  readonly genuine: boolean;
  /** Where it is not. */
  readonly reason?: string;
}

export interface VectorFile {
  readonly version: 1;
  readonly schemes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly vectors: readonly Vector[];
}

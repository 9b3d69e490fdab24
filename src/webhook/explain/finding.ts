import type { Delivery } from '../delivery.ts';
import type { Algorithm, Encoding, SchemeOptions, TimestampFormat } from '../scheme-options.ts';
import type { Key, Scheme } from '../scheme.ts';
import type { BodyFormName } from './body-form-names.ts';
import type { SecretFormName } from './secret-forms.ts';

/** What would have matched, or why nothing does. Never holds a secret or a signature. */
export interface Finding {
  /** One sentence for the operator of a receiver. */
  readonly what: string;
  /** What a receiver needs to take such deliveries; undefined where nothing helps. */
  readonly fix?: Fix | undefined;
  /** What lets this one capture verify, and nothing that a receiver should accept. */
  readonly captureFix?: CaptureFix | undefined;
}

/** A signature that no scheme with a name makes. */
export interface CustomMatch {
  readonly header: string;
  readonly algorithm: Algorithm;
  readonly encoding: Encoding;
  /** The template that was signed. */
  readonly content: string;
  /** `prefix`: before it, in a header with other entries. `signedAs`: where it was signed in another unit than sent. */
  readonly timestamp:
    | {
        readonly header: string;
        readonly prefix: string | undefined;
        readonly signedAs: TimestampFormat | undefined;
      }
    | undefined;
  readonly idHeader: string | undefined;
  readonly secret: SecretChange;
  readonly body: BodyFormName | undefined;
}

/** How the secret that was given must be read or changed. */
export interface SecretChange {
  readonly to: SecretFormName | 'key-pair' | 'behind-word' | 'in-single-quotes' | 'in-double-quotes';
  /** The word, or the version that the secret begins with. */
  readonly text?: string | undefined;
}

export interface Fix {
  /** The scheme that the secret was given for. */
  readonly here: string;
  /** The scheme to use in its place. */
  readonly scheme?: string | undefined;
  /** In the order in which they matter. */
  readonly options?: Omit<SchemeOptions, 'publicUrl'> & { readonly publicUrl?: string | undefined };
  readonly secret?: SecretChange | undefined;
}

export interface CaptureFix {
  readonly body?: BodyFormName | undefined;
  /** Milliseconds since the epoch. */
  readonly signedAt?: number | undefined;
}

/** Counts what is tried for one explanation. */
export class Search {
  tried = 0;

  matches(scheme: Scheme, delivery: Delivery, keys: readonly Key[]): boolean {
    this.tried += 1;
    return scheme.authenticate(delivery, keys).ok;
  }
}

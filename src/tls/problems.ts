/** What is wrong with the PEM files that the user named, or with our own. Reasons are those of the system or of OpenSSL. */
export type TlsProblem =
  | {
      readonly kind: 'unreadable-pem';
      readonly file: PemFile;
      readonly path: string;
      readonly code: string | undefined;
      readonly reason: string;
    }
  | { readonly kind: 'no-certificate' | 'no-private-key'; readonly path: string; readonly isSwapped: boolean }
  | { readonly kind: 'damaged-pem'; readonly file: PemFile; readonly path: string; readonly reason: string }
  | { readonly kind: 'encrypted-key'; readonly path: string }
  /** `isLater`: it belongs to another certificate of that file. */
  | {
      readonly kind: 'key-of-another-certificate';
      readonly certPath: string;
      readonly keyPath: string;
      readonly isLater: boolean;
    }
  /** `at`: in ISO form. */
  | { readonly kind: 'expired-certificate' | 'early-certificate'; readonly path: string; readonly at: string }
  | { readonly kind: 'unusable-certificate'; readonly path: string; readonly reason: string }
  | {
      readonly kind: 'inaccessible-authority' | 'damaged-authority';
      readonly directory: string;
      readonly reason: string;
    };

export type PemFile = 'cert' | 'key';

import type { KindsOf } from '../errors.ts';

/** The faults of the PEM files that the user named, or of our own. Reasons are those of the system or of OpenSSL. */
export type TlsProblem = KindsOf<{
  'unreadable-pem': { file: PemFile; path: string; code: string | undefined; reason: string };
  'no-certificate': { path: string; isSwapped: boolean };
  'no-private-key': { path: string; isSwapped: boolean };
  'damaged-pem': { file: PemFile; path: string; reason: string };
  'encrypted-key': { path: string };
  /** `isLater`: it belongs to another certificate of that file. */
  'key-of-another-certificate': { certPath: string; keyPath: string; isLater: boolean };
  /** `at`: in ISO form. */
  'expired-certificate': { path: string; at: string };
  'early-certificate': { path: string; at: string };
  'unusable-certificate': { path: string; reason: string };
  'inaccessible-authority': { directory: string; reason: string };
  /** `reason`: `mismatch` where the key is another one's. */
  'damaged-authority': { directory: string; reason: string };
}>;

export type PemFile = 'cert' | 'key';

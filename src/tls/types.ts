import type { KeyObject, X509Certificate } from 'node:crypto';

/** A certificate and its key as PEM texts. */
export interface CertificatePair {
  readonly certPem: string;
  readonly keyPem: string;
}

/** An authority that can sign, with its certificate. */
export interface Authority {
  /** The certificate as it is in its file. */
  readonly pem: string;
  readonly certificate: X509Certificate;
  readonly key: KeyObject;
}

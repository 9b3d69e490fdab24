import type { TemplateSchemeOptions } from '../schemes/template-scheme.ts';

/** The names of the headers that a vendor uses. */
type HeaderNames = Pick<TemplateSchemeOptions, 'signatureHeader' | 'timestampHeader' | 'nonceHeader'>;

/** How one vendor signs, as data. */
export interface Preset extends Omit<TemplateSchemeOptions, 'toleranceMs'> {
  /** What the vendor calls the secret, for help. */
  readonly secret: string;
  /** How far the signed time may lie from now, in milliseconds, where the vendor names another limit than five minutes. */
  readonly toleranceMs?: number;
  /** Other names under which the same headers are taken. */
  readonly otherNames?: readonly HeaderNames[];
}

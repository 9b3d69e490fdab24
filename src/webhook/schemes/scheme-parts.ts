import type { SchemeOptions } from './scheme-options.ts';

/** An option that few schemes have. */
export type PartKey = Exclude<keyof SchemeOptions, 'toleranceMs' | 'publicUrl'>;

const custom = ['custom'] as const;

/** The schemes that a part belongs to. */
const ownersOf: Readonly<Record<PartKey, readonly string[]>> = {
  tokenHeader: ['token'],
  headerPrefix: ['standard-webhooks'],
  require: ['rfc9421'],
  signatureHeader: custom,
  signatureHeaders: custom,
  algorithm: custom,
  encoding: custom,
  prefix: custom,
  separator: custom,
  signedContent: custom,
  timestampHeader: custom,
  timestampPrefix: custom,
  timestampFormat: custom,
  nonceHeader: custom,
  secretEncoding: ['custom', 'rfc9421'],
};

export const schemePartKeys = Object.keys(ownersOf) as readonly PartKey[];

export const schemesWith = (part: PartKey): readonly string[] => ownersOf[part];

/** A part that is given and that this scheme would ignore: something else is checked than was meant. */
export const strayPart = (parts: Partial<Record<PartKey, unknown>>, scheme: string): PartKey | undefined =>
  schemePartKeys.find((key) => parts[key] !== undefined && !schemesWith(key).includes(scheme));

import type { CustomOptions } from './schemes/custom.ts';

/** What a scheme is made with, besides its name. */
export interface SchemeOptions extends CustomOptions {
  /** How far a signed time may lie from now, in milliseconds. Default 5 minutes, or what the vendor says. */
  readonly toleranceMs?: number | undefined;
  /** Of the scheme `token`. Default `x-webhook-token`. */
  readonly tokenHeader?: string | undefined;
  /** Of `standard-webhooks`: the vendor's own prefix of its headers, which are taken beside the unbranded ones. */
  readonly headerPrefix?: string | undefined;
  /** Of `rfc9421`: what a signature must cover. Default method, target and digest. */
  readonly require?: readonly string[] | undefined;
  /** The receiver's URL as its senders know it, for schemes that sign it. */
  readonly publicUrl?: URL | undefined;
}

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

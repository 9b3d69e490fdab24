import type { CustomOptions } from './custom.ts';

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

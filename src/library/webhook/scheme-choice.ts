import type { CustomOptions } from '../../webhook/schemes/custom.ts';
import type { SchemeOptions } from '../../webhook/schemes/scheme-options.ts';

/** How a delivery is authenticated; `leads help schemes` says what each of them signs. */
export type SchemeName =
  | 'token'
  | 'standard-webhooks'
  | 'svix'
  | 'stripe'
  | 'github'
  | 'slack'
  | 'shopify'
  | 'calendly'
  | 'discord'
  | 'hubspot'
  | 'intercom'
  | 'linear'
  | 'meta'
  | 'mux'
  | 'paddle'
  | 'sendgrid'
  | 'square'
  | 'twitch'
  | 'typeform'
  | 'workos'
  | 'zendesk'
  | 'rfc9421';

/** A scheme with options of its own. */
export type SchemeDefinition =
  | ({ readonly name: 'token' } & Pick<SchemeOptions, 'tokenHeader'>)
  | ({ readonly name: 'standard-webhooks' } & Pick<SchemeOptions, 'headerPrefix'>)
  | ({ readonly name: 'rfc9421' } & Pick<SchemeOptions, 'require' | 'secretEncoding'>)
  | ({ readonly name: 'custom'; readonly signatureHeader: string } & Omit<CustomOptions, 'signatureHeader'>)
  | { readonly name: SchemeName };

/** A text is compared or decoded as the scheme says; bytes are the key itself, decoded already, or a PEM file. */
export type SecretInput = string | Uint8Array;

/** Who may deliver: the same for `verify`, `sign`, `explain` and `createReceiver`. */
export interface SchemeChoice {
  readonly scheme: SchemeName | SchemeDefinition;
  /**
   * At least one. Any of them may match, for rotation; the first one signs. An environment variable can be given as it is:
   * one that is not set is a `ConfigError`.
   */
  readonly secrets: SecretInput | undefined | readonly (SecretInput | undefined)[];
  /** How far a signed time may lie from now, either way, in milliseconds. Default 5 minutes, or what the vendor says. */
  readonly toleranceMs?: number | undefined;
  /** The URL that senders are given, where a proxy rewrites it; for schemes that sign it. */
  readonly publicUrl?: string | URL | undefined;
}

import { ConfigError, type ErrorDetails } from '../errors.ts';
import type { Algorithm, SecretEncoding } from './scheme-options.ts';

/** What is wrong with a scheme, its options, or a secret. */
export type WebhookProblem =
  | { readonly kind: 'unknown-scheme'; readonly name: string; readonly known: readonly string[] }
  | { readonly kind: 'scheme-is-no-object' }
  | { readonly kind: 'scheme-of-newer-version'; readonly version: string }
  | { readonly kind: 'unknown-scheme-part'; readonly part: string; readonly known: readonly string[] }
  | { readonly kind: 'wrong-scheme-part'; readonly part: string; readonly expected: string }
  | {
      readonly kind: 'stray-scheme-part';
      readonly part: string;
      readonly of: readonly string[];
      readonly scheme: string;
    }
  /** A tolerance was given. */
  | { readonly kind: 'scheme-signs-no-time'; readonly scheme: string }
  | { readonly kind: 'not-a-header-name'; readonly name: string }
  | { readonly kind: 'empty-secret' }
  | { readonly kind: 'secret-in-pem' }
  | { readonly kind: 'secret-not-encoded'; readonly encoding: SecretEncoding }
  | { readonly kind: 'empty-token' }
  | { readonly kind: 'unsendable-token' }
  | { readonly kind: 'jwk-without-secret' }
  | { readonly kind: 'unreadable-key' }
  | { readonly kind: 'unreadable-webhook-key' }
  | { readonly kind: 'key-halves-differ' }
  /** `type`: undefined for a shared secret; `bits`: of an RSA key that is too short. */
  | {
      readonly kind: 'key-for-another-algorithm';
      readonly algorithm: Algorithm;
      readonly type: string | undefined;
      readonly bits: number | undefined;
    }
  | { readonly kind: 'key-not-of-algorithm'; readonly algorithm: Algorithm }
  | { readonly kind: 'unsupported-key'; readonly type: string }
  | { readonly kind: 'public-key-cannot-sign' }
  | { readonly kind: 'body-not-signed'; readonly content: string }
  | { readonly kind: 'unknown-slot'; readonly slot: string; readonly known: readonly string[] }
  | { readonly kind: 'two-time-sources' }
  | { readonly kind: 'signed-not-sent'; readonly part: 'timestamp' | 'nonce' }
  | { readonly kind: 'sent-not-signed'; readonly part: 'timestamp' | 'nonce' }
  | { readonly kind: 'custom-without-header' }
  | { readonly kind: 'headers-not-apart'; readonly scheme: 'custom' | 'token' }
  | { readonly kind: 'format-without-time' }
  | { readonly kind: 'prefixes-overlap' }
  | { readonly kind: 'component-not-sent'; readonly names: readonly string[] }
  | { readonly kind: 'digest-not-required'; readonly require: readonly string[] }
  | { readonly kind: 'unknown-component'; readonly name: string; readonly known: readonly string[] };

export const configError = (problem: WebhookProblem, details?: ErrorDetails): ConfigError =>
  new ConfigError(problem, details);

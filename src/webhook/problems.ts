import { ConfigError, type ErrorDetails, type KindsOf } from '../errors.ts';
import type { Algorithm, SecretEncoding } from './scheme-options.ts';

/** What is wrong with a scheme, its options, or a secret. */
export type WebhookProblem =
  | KindsOf<Record<'scheme-is-no-object' | 'empty-secret' | 'empty-token' | 'unsendable-token', unknown>>
  | KindsOf<Record<'unreadable-key' | 'unreadable-webhook-key', unknown>>
  | KindsOf<Record<'key-halves-differ' | 'public-key-cannot-sign' | 'two-time-sources', unknown>>
  | KindsOf<Record<'custom-without-header' | 'format-without-time' | 'prefixes-overlap', unknown>>
  | KindsOf<{
      'unknown-scheme': { name: string; known: readonly string[] };
      'scheme-of-newer-version': { version: string };
      'unknown-scheme-part': { part: string; known: readonly string[] };
      'wrong-scheme-part': { part: string; expected: string };
      'stray-scheme-part': { part: string; of: readonly string[]; scheme: string };
      /** A tolerance was given. */
      'scheme-signs-no-time': { scheme: string };
      'not-a-header-name': { name: string };
      /** A public key, or a key in PEM. */
      'secret-of-key-pair': unknown;
      'secret-not-encoded': { encoding: SecretEncoding };
      /** `bits`: of an RSA key that is too short. */
      'key-for-another-algorithm': {
        algorithm: Algorithm;
        type: string;
        bits: number | undefined;
      };
      'key-not-of-algorithm': { algorithm: Algorithm };
      'body-not-signed': { content: string };
      'unknown-slot': { slot: string; known: readonly string[] };
      'signed-not-sent': { part: 'timestamp' | 'nonce' };
      'sent-not-signed': { part: 'timestamp' | 'nonce' };
      'headers-not-apart': { scheme: 'custom' | 'token' };
    }>;

export const configError = (problem: WebhookProblem, details?: ErrorDetails): ConfigError =>
  new ConfigError(problem, details);

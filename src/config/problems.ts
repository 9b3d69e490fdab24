import { ConfigError, type ErrorDetails, UsageError } from '../errors.ts';

/** Why a header cannot be one of `api.headers`. */
export type HeaderObjection =
  'name' | 'value' | 'twice' | 'key' | 'own' | 'framing' | 'proxy' | 'session' | 'part';

/** What is wrong with the configuration file, a profile or a setting. */
export type ConfigProblem =
  | { readonly kind: 'no-home-directory' }
  | { readonly kind: 'config-unreadable'; readonly path: string; readonly code: string }
  | { readonly kind: 'config-of-another-user'; readonly path: string }
  | {
      readonly kind: 'config-not-json';
      readonly path: string;
      readonly line: number;
      readonly isComma: boolean;
    }
  | { readonly kind: 'config-of-newer-version'; readonly path: string }
  | { readonly kind: 'config-invalid'; readonly path: string; readonly at: readonly string[] }
  | { readonly kind: 'not-a-base-url'; readonly shown: string }
  | { readonly kind: 'base-url-with-password' }
  | { readonly kind: 'base-url-in-plain-http'; readonly origin: string }
  | { readonly kind: 'no-base-url'; readonly profile: string }
  | { readonly kind: 'no-api-key'; readonly profile: string }
  | {
      readonly kind: 'key-of-another-origin';
      readonly profile: string;
      readonly of: string | undefined;
      readonly origin: string;
    }
  | {
      readonly kind: 'key-command-of-another-origin';
      readonly of: string | undefined;
      readonly origin: string;
    }
  | {
      readonly kind: 'headers-of-another-origin';
      readonly of: string | undefined;
      readonly origin: string;
    }
  | { readonly kind: 'header-not-settable'; readonly name: string; readonly why: HeaderObjection }
  | { readonly kind: 'unknown-profile'; readonly profile: string; readonly known: readonly string[] }
  /** `what` is asked for, such as an API key. */
  | { readonly kind: 'no-secret-given'; readonly what: string }
  | { readonly kind: 'secret-with-blanks'; readonly what: string }
  | { readonly kind: 'secret-unreadable'; readonly what: string; readonly path: string; readonly why: string }
  | { readonly kind: 'unsendable-key'; readonly from: 'environment' | 'profile' }
  | { readonly kind: 'no-time-out'; readonly text: string }
  | { readonly kind: 'no-retries'; readonly text: string }
  | { readonly kind: 'not-a-setting-value'; readonly value: string; readonly path: readonly string[] }
  | { readonly kind: 'two-keys-of-a-profile' }
  | { readonly kind: 'key-command-failed'; readonly program: string; readonly how: string };

export type HeaderProblem = Extract<ConfigProblem, { readonly kind: 'header-not-settable' }>;

export const configError = (problem: ConfigProblem, details?: ErrorDetails): ConfigError =>
  new ConfigError(problem, details);

export const usageError = (problem: ConfigProblem): UsageError => new UsageError(problem);

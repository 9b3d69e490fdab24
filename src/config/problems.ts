import { ConfigError, type ErrorDetails, type KindsOf, UsageError } from '../errors.ts';

/** Why a header cannot be one of `api.headers`. */
export type HeaderObjection =
  'name' | 'value' | 'twice' | 'key' | 'own' | 'framing' | 'proxy' | 'session' | 'part';

/** What the program did that is to print a key, in place of that. */
export type KeyCommandFault =
  | KindsOf<{
      exited: { status: number };
      killed: { by: string };
      'not-run': { why: string };
      'not-ended': { afterMs: number };
    }>
  | { readonly kind: 'no-key-printed' };

/** What is wrong with the configuration file, a profile or a setting. */
export type ConfigProblem = KindsOf<{
  'no-home-directory': unknown;
  'config-unreadable': { path: string; code: string };
  'config-of-another-user': { path: string };
  'config-not-json': { path: string; line: number; isComma: boolean };
  'config-of-newer-version': { path: string };
  'config-invalid': { path: string; at: readonly string[] };
  'not-a-base-url': { shown: string };
  'base-url-with-password': unknown;
  'base-url-in-plain-http': { origin: string };
  'no-base-url': { profile: string };
  'no-api-key': { profile: string };
  'key-of-another-origin': { profile: string; of: string | undefined; origin: string };
  'key-command-of-another-origin': { of: string | undefined; origin: string };
  'headers-of-another-origin': { of: string | undefined; origin: string };
  'header-not-settable': { name: string; why: HeaderObjection };
  'unknown-profile': { profile: string; known: readonly string[] };
  /** `what` is asked for, such as an API key. */
  'no-secret-given': { what: string };
  'secret-with-blanks': { what: string };
  'unsendable-key': { from: 'environment' | 'profile' };
  /** Names of settings that this release does not know. */
  'settings-ignored': { names: readonly string[] };
  'no-time-out': { text: string };
  'no-retries': { text: string };
  'not-a-setting-value': { value: string; path: readonly string[] };
  'two-keys-of-a-profile': unknown;
  'key-command-failed': { program: string; how: KeyCommandFault; stderr: string };
}>;

export type HeaderProblem = Extract<ConfigProblem, { readonly kind: 'header-not-settable' }>;

export const configError = (problem: ConfigProblem, details?: ErrorDetails): ConfigError =>
  new ConfigError(problem, details);

export const usageError = (problem: ConfigProblem): UsageError => new UsageError(problem);

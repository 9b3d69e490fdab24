import type { Secret } from '../secret.ts';

/** The global flags; their values are checked where settings are read. */
export interface Globals {
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
  readonly timeout: string | undefined;
  readonly retries: string | undefined;
  readonly verbose: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

export interface Account {
  /** Name of the profile, for hints that say how to log in. */
  readonly profile?: string | undefined;
  readonly baseUrl: URL;
  readonly apiKey: Secret;
  /** `api-key-command` printed it. */
  readonly keyIsFromCommand?: true;
}

/** An account whose key is not read yet. */
export interface AccountSettings {
  readonly profile: string;
  readonly baseUrl: URL;
}

export interface CommandKey {
  readonly apiKeyCommand: readonly string[];
}

/** A profile as the file holds it. Secrets are plain text there, so the file is 0600. */
export interface Profile {
  readonly 'base-url'?: string | undefined;
  readonly 'api-key'?: string | undefined;
  readonly 'api-key-command'?: readonly string[] | undefined;
  /** The origin that the key, or the command, was stored for: it is sent nowhere else. */
  readonly 'api-key-origin'?: string | undefined;
  /** The origin that the dialect's headers were stored for. */
  readonly 'headers-origin'?: string | undefined;
  readonly timeout?: string | undefined;
  readonly retries?: number | undefined;
  readonly zone?: string | undefined;
  readonly webhook?:
    | {
        readonly scheme?: string | undefined;
        readonly token?: string | undefined;
        readonly secret?: string | undefined;
        readonly lead?: string | undefined;
        readonly id?: string | undefined;
        readonly 'other-events'?: 'accept' | 'reject' | undefined;
      }
    | undefined;
  readonly listen?: { readonly 'drain-delay'?: string | undefined } | undefined;
  readonly api?: Readonly<Record<string, unknown>> | undefined;
}

export interface Config {
  readonly version?: number | undefined;
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  readonly profile?: string | undefined;
  readonly profiles?: Readonly<Record<string, Profile>> | undefined;
}

import type { Secret } from '../secret.ts';
import type { Dialect } from './dialect.ts';

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

/** Secrets are plain text in the file, which is therefore 0600. */
export interface Profile {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly apiKeyCommand?: readonly string[] | undefined;
  /** The origin that the key, or the command, was stored for: it is sent nowhere else. */
  readonly apiKeyOrigin?: string | undefined;
  /** The origin that the dialect's headers were stored for. */
  readonly headersOrigin?: string | undefined;
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
        readonly otherEvents?: 'accept' | 'reject' | undefined;
      }
    | undefined;
  readonly listen?:
    { readonly drainDelay?: string | undefined; readonly drainTimeout?: string | undefined } | undefined;
  readonly api?: Dialect | undefined;
}

export interface Config {
  readonly version?: number | undefined;
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  readonly profile?: string | undefined;
  readonly profiles?: Readonly<Record<string, Profile>> | undefined;
}

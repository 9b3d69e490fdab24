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

/** The base URL and the key that requests to a service need. The profile is for hints that say how to log in. */
export interface Account {
  readonly profile?: string | undefined;
  readonly baseUrl: URL;
  readonly apiKey: Secret;
  /** Whether `api-key-command` printed the key. */
  readonly keyIsFromCommand?: true;
}

/** An account without its key, which is a stored text or what a command prints. */
export type AccountSettings = Pick<Account, 'baseUrl'> & { readonly profile: string };

/** A program that prints the key, and its arguments. */
export interface CommandKey {
  readonly apiKeyCommand: readonly string[];
}

/** A profile as the file holds it. Secrets are plain text there, so the file is 0600. */
export interface Profile {
  readonly 'base-url'?: string | undefined;
  readonly 'api-key'?: string | undefined;
  readonly 'api-key-command'?: readonly string[] | undefined;
  /** The origin for which the key, or the command, was stored: the key is sent nowhere else. */
  readonly 'api-key-origin'?: string | undefined;
  /** The same for the headers of the dialect. */
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

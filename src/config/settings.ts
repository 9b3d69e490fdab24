import type { Secret } from '../secret.ts';
import type { Dialect } from './dialect.ts';
import type { PartKey } from '../webhook/scheme-options.ts';

/** What the flags give that every command takes; their values are checked where settings are read. */
export interface Globals {
  readonly profile: string | undefined;
  readonly baseUrl: string | undefined;
  readonly timeout: string | undefined;
  readonly retries: string | undefined;
  readonly verbose: boolean;
  readonly quiet: boolean;
  readonly color: boolean;
}

/** What is needed to talk to the service. */
export interface Account {
  /** Name of the profile, for hints that say how to log in. */
  readonly profile?: string | undefined;
  readonly baseUrl: URL;
  /** The key in force. */
  readonly apiKey: Secret;
  /** Gets another key in place of one that the service refused; undefined where the key is a fixed one. */
  readonly renewKey?: ((refused: Secret) => Promise<void>) | undefined;
}

/** What is known of an account before a key is needed. */
export interface AccountSettings {
  readonly profile: string;
  readonly baseUrl: URL;
}

interface FixedKey {
  readonly apiKey: Secret;
}

/** A program and its arguments that print the key. */
export interface CommandKey {
  readonly apiKeyCommand: readonly string[];
}

/** What flags, environment and the profile say together. Nothing here has a default but what is named so. */
export interface Settings {
  readonly profile: string;
  /** Where the configuration file holds what this release does not know. */
  readonly unknown: readonly string[];
  /** Base URL and key, or a `ConfigError` that says which is missing and how to give it. */
  account(): AccountSettings & (FixedKey | CommandKey);
  /** Throws a `ConfigError` for one that cannot be used, so that it stops no command that does not ask for it. */
  readonly baseUrl: URL | undefined;
  readonly dialect: Dialect;
  /** The origin that the dialect's headers are for; without one they are sent nowhere. */
  readonly headersOrigin: string | undefined;
  /** `LEADS_WEBHOOK_TOKEN`, or the profile's. */
  readonly webhookToken: Secret | undefined;
  /** `LEADS_WEBHOOK_SECRET`, or the profile's. */
  readonly webhookSecret: Secret | undefined;
  /** The profile's scheme: a name, JSON, or a file. */
  readonly webhookScheme: string | undefined;
  /** Where the lead is in the body of a delivery: a JSON Pointer, or `auto`. */
  readonly webhookLead: string | undefined;
  /** The field that is the id of a lead that is delivered. Default: as in a lead that is listed. */
  readonly webhookId: string;
  /** Whether genuine deliveries without any field of a lead are taken. */
  readonly takesOtherEvents: boolean;
  /** The options of that scheme that earlier releases keep beside it, as texts, unchecked. */
  readonly webhookOptions: StoredSchemeOptions;
  /** After a signal, `listen` goes on so long. Default: not at all. */
  readonly drainDelayMs: number;
  /** At its end, deliveries in flight get so long. Default 5 s. */
  readonly drainTimeoutMs: number;
  /** For one request, headers and each wait for more of the body. Default 30 s. */
  readonly timeoutMs: number;
  /** How often a failed request is tried again. Default 5. */
  readonly retries: number;
  /** In which times are read and shown. Default UTC. */
  readonly zone: string;
}

/** As the user wrote them; checked where they are used. */
type StoredSchemeOptions = { readonly [K in PartKey | 'tolerance']?: string | undefined };

/** What one account has stored. Secrets are plain text in the file, which is why it is 0600. */
export interface Profile {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** A program and its arguments that print the key, in place of one that is stored. */
  readonly apiKeyCommand?: readonly string[] | undefined;
  /** The origin that the key, or the command, was stored for: it is sent nowhere else. */
  readonly apiKeyOrigin?: string | undefined;
  /** The origin that the dialect's headers were stored for, likewise. */
  readonly headersOrigin?: string | undefined;
  /** When each secret was stored, in ISO form, by the names of their settings. */
  readonly setAt?: Readonly<Record<string, string>> | undefined;
  readonly timeout?: string | undefined;
  readonly retries?: number | undefined;
  readonly zone?: string | undefined;
  readonly webhook?:
    | ({
        readonly scheme?: string | undefined;
        readonly token?: string | undefined;
        readonly secret?: string | undefined;
        readonly lead?: string | undefined;
        readonly id?: string | undefined;
        readonly otherEvents?: 'accept' | 'reject' | undefined;
        readonly custom?: StoredSchemeOptions | undefined;
      } & StoredSchemeOptions)
    | undefined;
  readonly listen?:
    { readonly drainDelay?: string | undefined; readonly drainTimeout?: string | undefined } | undefined;
  readonly api?: Dialect | undefined;
}

export interface Config {
  /** Of the file's form: with one, its names are spelled `page-size`; without, as earlier releases spell them. */
  readonly version?: number | undefined;
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  readonly profile?: string | undefined;
  readonly profiles?: Readonly<Record<string, Profile>> | undefined;
}

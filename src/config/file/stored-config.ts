import type { Dialect } from '../dialect.ts';
import type { CustomSchemeKey } from '../scheme-settings.ts';

/** The parts of `--scheme custom`, as the user wrote them; checked where they are used. */
export type StoredCustomScheme = { readonly [K in CustomSchemeKey]?: string | undefined };

/** What one account has stored. Secrets are plain text in the file, which is why it is 0600. */
export interface Profile {
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  /** A program and its arguments that print the key, in place of one that is stored. */
  readonly apiKeyCommand?: readonly string[] | undefined;
  /** The origin that the key, or the command, was stored for: it is sent nowhere else. */
  readonly apiKeyOrigin?: string | undefined;
  readonly timeout?: string | undefined;
  readonly retries?: number | undefined;
  readonly webhook?:
    | {
        readonly scheme?: string | undefined;
        readonly token?: string | undefined;
        readonly secret?: string | undefined;
        readonly tolerance?: string | undefined;
        readonly lead?: string | undefined;
        readonly tokenHeader?: string | undefined;
        readonly headerPrefix?: string | undefined;
        readonly require?: string | undefined;
        readonly custom?: StoredCustomScheme | undefined;
      }
    | undefined;
  readonly api?: Dialect | undefined;
}

export interface Config {
  /** Used when neither `--profile` nor `LEADS_PROFILE` names one. */
  readonly profile?: string | undefined;
  readonly profiles?: Readonly<Record<string, Profile>> | undefined;
}

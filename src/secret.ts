import { inspect } from 'node:util';

/** Text that must not be shown. Every way of printing it gives `…` and its last four characters. */
export class Secret {
  readonly #text: string;
  readonly #bytes: Uint8Array | undefined;
  #forms: readonly string[] | undefined;

  /** `bytes`: the key itself, where that is what was given; `text` then only serves to find it in other texts. */
  constructor(text: string, bytes?: Uint8Array) {
    this.#text = text;
    this.#bytes = bytes;
  }

  /** A key that needs no decoding. */
  static ofBytes(bytes: Uint8Array): Secret {
    // Headers are decoded as Latin-1, and a header is where it could be found.
    return new Secret(Buffer.from(bytes).toString('latin1'), Uint8Array.from(bytes));
  }

  /** The text itself: for signing and for the one header that carries it, never for output. */
  reveal(): string {
    return this.#text;
  }

  /** How it may stand in a text: plain, or percent-encoded where that differs. */
  forms(): readonly string[] {
    return (this.#forms ??= [...new Set([this.#text, encodeURIComponent(this.#text)])]);
  }

  /** The key itself, for a secret that was given as bytes. */
  revealBytes(): Uint8Array | undefined {
    return this.#bytes;
  }

  /** Short secrets show nothing: four characters would be too large a part of them. */
  toString(): string {
    return this.#text.length < 10 ? '…' : `…${this.#text.slice(-4)}`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

/** Text from outside with every occurrence of the secrets, plain or percent-encoded, replaced. */
export function withoutSecrets(text: string, secrets: readonly Secret[], replacement: string): string {
  let redacted = text;
  for (const secret of secrets) {
    for (const form of secret.forms()) {
      if (form !== '' && redacted.includes(form)) redacted = redacted.replaceAll(form, () => replacement);
    }
  }
  return redacted;
}

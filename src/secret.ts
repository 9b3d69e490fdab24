import { inspect } from 'node:util';

/**
 * A text that must not be shown: every way of printing it gives `…` and its last four characters. A key that was given as bytes
 * has them too, and its text then only serves to find it in other texts.
 */
export class Secret {
  readonly #text: string;
  readonly #bytes: Uint8Array | undefined;
  #forms: readonly string[] | undefined;

  constructor(text: string, bytes?: Uint8Array) {
    this.#text = text;
    this.#bytes = bytes;
  }

  static ofBytes(bytes: Uint8Array): Secret {
    // Headers, in which the key could be found, are decoded as Latin-1.
    return new Secret(Buffer.from(bytes).toString('latin1'), Uint8Array.from(bytes));
  }

  /** The text itself, for signing and for the one header that carries it, never for output. */
  reveal(): string {
    return this.#text;
  }

  /** The forms in which other texts may hold it: plain, and percent-encoded where that differs. */
  forms(): readonly string[] {
    return (this.#forms ??= [...new Set([this.#text, encodeURIComponent(this.#text)])]);
  }

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

/**
 * Returns a text from outside in which every occurrence of the secrets, plain or percent-encoded, is replaced. Longer ones are
 * replaced first, since they may contain shorter ones.
 */
export function withoutSecrets(text: string, secrets: readonly Secret[], replacement: string): string {
  // Every header of every delivery comes here, and few hold a secret.
  const occurring: string[] = [];
  for (const secret of secrets) {
    for (const form of secret.forms()) if (form !== '' && text.includes(form)) occurring.push(form);
  }
  occurring.sort((a, b) => b.length - a.length);
  return occurring.reduce((redacted, form) => redacted.replaceAll(form, () => replacement), text);
}

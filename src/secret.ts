import { inspect } from 'node:util';

/** Text that must not be shown. Every way of printing it gives `…` and its last four characters. */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself: for signing and for the one header that carries it, never for output. */
  reveal(): string {
    return this.#text;
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
    const plain = secret.reveal();
    for (const form of [plain, encodeURIComponent(plain)]) {
      if (form !== '' && redacted.includes(form)) redacted = redacted.replaceAll(form, () => replacement);
    }
  }
  return redacted;
}

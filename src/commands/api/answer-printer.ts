import { escapeJson, sanitize } from '../../output/sanitize.ts';
import { write } from '../../output/stdout.ts';
import type { Context } from '../../context.ts';
import type { RawAnswer } from '../../service/client/raw-call.ts';

/**
 * Prints answers one behind the other: byte for byte in a pipe, and on a terminal what cannot drive it, without the key. A
 * page that does not end its last line gets a line break before the next one.
 */
export class AnswerPrinter {
  readonly #stdout: Context['stdout'];
  readonly #isTerminal: boolean;
  /** A terminal shows it, as it came or filtered. */
  readonly #isShown: boolean;
  #endsLine = true;

  constructor({ stdout }: Pick<Context, 'stdout'>) {
    this.#stdout = stdout;
    this.#isTerminal = stdout.isTTY === true;
    this.#isShown = this.#isTerminal || stdout.isBeforeTerminal === true;
  }

  /** Status line and headers as HTTP writes them, the key taken out. */
  async printHead({ status, statusText, rawHeaders, redact }: RawAnswer): Promise<void> {
    await this.#endLine();
    const lines = [
      `HTTP/1.1 ${status} ${statusText}`.trimEnd(),
      ...rawHeaders.map(([name, value]) => `${name}: ${redact(value)}`),
      '',
    ];
    const text = this.#isTerminal
      ? lines.map((line) => `${sanitize(line)}\n`).join('')
      : lines.map((line) => `${line}\r\n`).join('');
    await write(this.#stdout, text);
  }

  async printBody({ headers, redactBody }: RawAnswer, body: RawAnswer['body']): Promise<void> {
    await this.#endLine();
    const draw = this.#isTerminal ? drawn(/json/i.test(headers['content-type'] ?? '')) : undefined;
    for await (const chunk of this.#isShown ? redactBody(body) : body) {
      if (chunk.length === 0) continue;
      this.#endsLine = chunk.at(-1) === 0x0a;
      await write(this.#stdout, draw === undefined ? chunk : draw.text(chunk));
    }
    if (draw !== undefined) await write(this.#stdout, draw.rest());
  }

  /** The prompt of a shell begins a line of its own. */
  async end(): Promise<void> {
    if (this.#isTerminal) await this.#endLine();
  }

  async #endLine(): Promise<void> {
    if (!this.#endsLine) await write(this.#stdout, '\n');
    this.#endsLine = true;
  }
}

/** JSON keeps its value there; of any other text, line breaks are what is left of its controls. */
function drawn(isJson: boolean): { text: (chunk: Uint8Array) => string; rest: () => string } {
  const decoder = new TextDecoder();
  const scrub = (text: string): string => {
    const lines = text.replaceAll('\r\n', '\n');
    return isJson ? lines.split('\t').map(escapeJson).join('  ') : lines.split('\n').map(sanitize).join('\n');
  };
  return {
    text: (chunk) => scrub(decoder.decode(chunk, { stream: true })),
    rest: () => scrub(decoder.decode()),
  };
}

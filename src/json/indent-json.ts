/** Indents JSON that comes in chunks. Strings, numbers and the text between documents stay unchanged. */
export class JsonIndenter {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** An empty object or array stays on one line. */
  #hasOpened = false;

  indent(chunk: string): string {
    let out = '';
    for (const char of chunk) out += this.#inString ? this.#quoted(char) : this.#structural(char);
    return out;
  }

  #quoted(char: string): string {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === '\\') this.#isEscaped = true;
    else if (char === '"') this.#inString = false;
    return char;
  }

  #structural(char: string): string {
    if (' \n\r\t'.includes(char)) return this.#depth === 0 ? char : '';
    if (char === '}' || char === ']') {
      const wasOpened = this.#hasOpened;
      this.#hasOpened = false;
      this.#depth = Math.max(0, this.#depth - 1);
      return wasOpened ? char : this.#newLine() + char;
    }
    const start = this.#hasOpened ? this.#newLine() : '';
    this.#hasOpened = char === '{' || char === '[';
    if (this.#hasOpened) this.#depth += 1;
    this.#inString = char === '"';
    if (this.#depth === 0) return start + char;
    if (char === ',') return start + char + this.#newLine();
    return start + (char === ':' ? ': ' : char);
  }

  #newLine(): string {
    return `\n${'  '.repeat(this.#depth)}`;
  }
}

import {
  backslash,
  closeBrace,
  closeBracket,
  isSpace,
  openBrace,
  openBracket,
  quote,
} from '../../json/bytes.ts';

/**
 * Takes JSON values apart that stand one behind the other, while they arrive in chunks of any size. What is no JSON comes
 * out as some value, for its reader to reject.
 */
export class DocumentSplitter {
  #held: Uint8Array[] = [];
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** A number or a word at the top ends only where something else begins. */
  #inWord = false;

  /** The values that end in this chunk; copies, since a chunk's memory may be used again. */
  push(chunk: Uint8Array): Buffer[] {
    const documents: Buffer[] = [];
    let start = 0;
    const take = (end: number): void => {
      documents.push(Buffer.concat([...this.#held, chunk.subarray(start, end)]));
      this.#held = [];
      start = end;
    };
    for (let i = 0; i < chunk.length; i += 1) {
      const byte = chunk[i] as number;
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#inString = false;
          if (this.#depth === 0) take(i + 1);
        }
        continue;
      }
      const opens = byte === openBrace || byte === openBracket;
      if (this.#inWord && (isSpace(byte) || opens || byte === quote)) {
        this.#inWord = false;
        take(i);
      }
      if (byte === quote) this.#inString = true;
      else if (opens) this.#depth += 1;
      else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#depth <= 0) {
          this.#depth = 0;
          take(i + 1);
        }
      } else if (this.#depth === 0) {
        if (isSpace(byte)) start = this.#held.length === 0 ? i + 1 : start;
        else this.#inWord = true;
      }
    }
    if (start < chunk.length) this.#held.push(Buffer.from(chunk.subarray(start)));
    return documents;
  }

  /** What is left at the end: a number, or a value that breaks off. */
  end(): Buffer | undefined {
    const rest = Buffer.concat(this.#held.splice(0));
    return rest.every((byte) => isSpace(byte)) ? undefined : rest;
  }
}

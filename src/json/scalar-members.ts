import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  endOfContainer,
  endOfStringBytes,
  openBrace,
  opensContainer,
  quote,
} from './bytes.ts';

const dot = 0x2e;

/**
 * A name in the paths, and the names that follow it in an object. `index` counts all names, and `path` is the index of
 * the path that ends with this name, or -1.
 */
interface Step {
  readonly name: Uint8Array;
  readonly index: number;
  path: number;
  readonly inside: Step[];
}

/**
 * Finds scalar members of compact JSON objects by their paths, without creating anything. It gives up at
 * names that are repeated, escaped or hold a dot, and at objects and arrays in place of a scalar: the caller
 * then parses the record.
 */
export class ScalarMembers {
  /** The position of the value of each path in the record of the last `find`; the start is 0 where it has none. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #root: Step[] = [];
  /** For each step, the number of the `find` that met its name last: meeting it twice means a repeated name. */
  readonly #lastFinds: Int32Array;
  #findNumber = 0;
  #stepCount = 0;

  constructor(paths: readonly (readonly string[])[]) {
    this.starts = new Int32Array(paths.length);
    this.ends = new Int32Array(paths.length);
    paths.forEach((path, i) => this.#add(this.#root, path, i));
    this.#lastFinds = new Int32Array(this.#stepCount);
  }

  /** Returns false where the record must be parsed. `json[start, end)` is a valid compact object. */
  find(json: Uint8Array, start: number, end: number): boolean {
    this.#findNumber += 1;
    this.starts.fill(0);
    return this.#object(json, start, end, this.#root) > 0;
  }

  #add(steps: Step[], [name, ...inner]: readonly string[], path: number): void {
    if (name === undefined) return;
    const bytes = Buffer.from(name);
    let step = steps.find((candidate) => bytes.equals(candidate.name));
    if (step === undefined) {
      step = { name: bytes, index: this.#stepCount, path: -1, inside: [] };
      this.#stepCount += 1;
      steps.push(step);
    }
    if (inner.length === 0) step.path = path;
    else this.#add(step.inside, inner, path);
  }

  /** Returns the end of the object, or 0 to give up. */
  #object(json: Uint8Array, start: number, limit: number, steps: readonly Step[]): number {
    let position = start + 1;
    if (json[position] === closeBrace) return position + 1;
    while (position < limit) {
      const name = position + 1;
      const nameEnd = endOfName(json, name, limit);
      if (nameEnd === 0) return 0;
      const step = stepNamed(steps, json, name, nameEnd);
      const valueStart = nameEnd + 2;
      const end =
        step === undefined ? endOfValue(json, valueStart) : this.#member(json, valueStart, limit, step);
      if (end === 0) return 0;
      position = end + 1;
      if (json[end] === closeBrace) return position;
    }
    return 0;
  }

  #member(json: Uint8Array, start: number, limit: number, { index, path, inside }: Step): number {
    if (this.#lastFinds[index] === this.#findNumber) return 0;
    this.#lastFinds[index] = this.#findNumber;
    const first = json[start];
    if (first === openBrace && path < 0) return this.#object(json, start, limit, inside);
    if (opensContainer(first)) return 0;
    const end = endOfValue(json, start);
    if (path >= 0) {
      this.starts[path] = start;
      this.ends[path] = end;
    }
    return end;
  }
}

/** Returns the index of the closing quote; 0 for a name that must be decoded, or that holds a dot. */
function endOfName(json: Uint8Array, start: number, limit: number): number {
  for (let position = start; position < limit; position += 1) {
    const byte = json[position];
    if (byte === quote) return position;
    if (byte === backslash || byte === dot) return 0;
  }
  return 0;
}

function stepNamed(steps: readonly Step[], json: Uint8Array, start: number, end: number): Step | undefined {
  for (const step of steps) {
    const { name } = step;
    if (name.length !== end - start) continue;
    let i = 0;
    while (i < name.length && name[i] === json[start + i]) i += 1;
    if (i === name.length) return step;
  }
  return undefined;
}

function endOfValue(json: Uint8Array, start: number): number {
  const first = json[start];
  if (first === quote) return endOfStringBytes(json, start);
  if (opensContainer(first)) return endOfContainer(json, start);
  for (let position = start; ; position += 1) {
    const byte = json[position];
    if (byte === comma || byte === closeBrace || byte === closeBracket || byte === undefined) return position;
  }
}

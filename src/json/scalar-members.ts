import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  endOfString,
  openBrace,
  openBracket,
  quote,
} from './bytes.ts';

const dot = 0x2e;

/** A name that is looked for among the members of one object. */
interface Step {
  readonly name: Uint8Array;
  /** Of the steps of all objects. */
  readonly number: number;
  /** The index of the path that ends here, or -1. */
  path: number;
  /** What is looked for inside of it. */
  readonly inside: Step[];
}

/**
 * Finds scalar members of compact JSON objects by their paths, without building anything. It gives up where that is not
 * enough: at names that are repeated, escaped or hold a dot, and at objects and arrays where a scalar is looked for. The
 * record is to be parsed then.
 */
export class ScalarMembers {
  /** Where the value of each path is in the record that `find` was given; 0 where it has none. */
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly #root: Step[] = [];
  readonly #met: Int32Array;
  #steps = 0;
  #round = 0;

  constructor(paths: readonly (readonly string[])[]) {
    this.starts = new Int32Array(paths.length);
    this.ends = new Int32Array(paths.length);
    paths.forEach((path, i) => this.#add(this.#root, path, i));
    this.#met = new Int32Array(this.#steps);
  }

  /** False where the record has to be parsed; it is the valid compact object `json[start, end)`. */
  find(json: Uint8Array, start: number, end: number): boolean {
    this.#round += 1;
    this.starts.fill(0);
    return this.#object(json, start, end, this.#root) > 0;
  }

  #add(steps: Step[], [name, ...rest]: readonly string[], path: number): void {
    if (name === undefined) return;
    const bytes = Buffer.from(name);
    let step = steps.find((known) => bytes.equals(known.name));
    if (step === undefined) {
      step = { name: bytes, number: this.#steps, path: -1, inside: [] };
      this.#steps += 1;
      steps.push(step);
    }
    if (rest.length === 0) step.path = path;
    else this.#add(step.inside, rest, path);
  }

  /** Returns where the object ends; 0 to give up. */
  #object(json: Uint8Array, start: number, limit: number, steps: readonly Step[]): number {
    let at = start + 1;
    if (json[at] === closeBrace) return at + 1;
    while (at < limit) {
      const name = at + 1;
      const nameEnd = endOfName(json, name, limit);
      if (nameEnd === 0) return 0;
      const step = stepNamed(steps, json, name, nameEnd);
      at = step === undefined ? endOfValue(json, nameEnd + 2) : this.#member(json, nameEnd + 2, limit, step);
      if (at === 0 || json[at] === closeBrace) return at === 0 ? 0 : at + 1;
      at += 1;
    }
    return 0;
  }

  #member(json: Uint8Array, start: number, limit: number, { number, path, inside }: Step): number {
    if (this.#met[number] === this.#round) return 0;
    this.#met[number] = this.#round;
    const first = json[start];
    if (first === openBrace && path < 0) return this.#object(json, start, limit, inside);
    if (first === openBrace || first === openBracket) return 0;
    const end = endOfValue(json, start);
    if (path >= 0) {
      this.starts[path] = start;
      this.ends[path] = end;
    }
    return end;
  }
}

/** The index of the closing quote; 0 for a name that has to be decoded, or that may stand for several steps. */
function endOfName(json: Uint8Array, start: number, limit: number): number {
  for (let at = start; at < limit; at += 1) {
    const byte = json[at];
    if (byte === quote) return at;
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

/** The index behind a value. */
function endOfValue(json: Uint8Array, start: number): number {
  const first = json[start];
  if (first === quote) return endOfString(json, start);
  if (first === openBrace || first === openBracket) return endOfContainer(json, start);
  for (let at = start; ; at += 1) {
    const byte = json[at];
    if (byte === comma || byte === closeBrace || byte === closeBracket || byte === undefined) return at;
  }
}

function endOfContainer(json: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; ;) {
    const byte = json[at];
    if (byte === quote) {
      at = endOfString(json, at);
      continue;
    }
    at += 1;
    if (byte === openBrace || byte === openBracket) depth += 1;
    else if (byte === closeBrace || byte === closeBracket) depth -= 1;
    if (depth === 0 || byte === undefined) return at;
  }
}

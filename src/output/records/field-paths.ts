/** Some dotted paths of fields, such as `contact.email` or `tags.0`, asked for by name. */
export class FieldPaths {
  readonly #paths: ReadonlySet<string>;
  readonly #above = new Set<string>();

  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths);
    for (const path of paths) {
      for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
        this.#above.add(path.slice(0, dot));
      }
    }
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  /** Whether a field inside the one at `path` was asked for. */
  isAbove(path: string): boolean {
    return this.#above.has(path);
  }
}

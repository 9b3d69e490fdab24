/**
 * State that every copy of this code in one process shares. An application that imports the package and requires it as well
 * has two, and so has one whose bundler put a copy into its own file: what one has locked, the other must not take over.
 */
const key: unique symbol = Symbol.for('leads-cli/state');

interface ProcessState {
  /** Tokens of what this process holds: `files/lock.ts`. */
  readonly ownTokens: Set<string>;
}

const holder = global as unknown as { [key]: ProcessState | undefined };

/** Made at the first use, so that an import changes nothing of its process. */
export const processState = (): ProcessState => (holder[key] ??= { ownTokens: new Set() });

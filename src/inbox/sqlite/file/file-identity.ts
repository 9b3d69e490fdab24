import { statSync } from 'node:fs';

/**
 * The files of an open database as they were when it was opened. The system lets others delete or replace a file that is
 * in use, and what is then written to it is gone with the process.
 */
export class FileIdentity {
  readonly #files: readonly { readonly path: string; readonly identity: string | undefined }[];

  /** `files`: a reader's own is the database alone, since others make and remove its log. */
  constructor(path: string, files: readonly string[] = [path, `${path}-wal`]) {
    this.#files = files.map((file) => ({ path: file, identity: identityOf(file) }));
  }

  /** What happened to them in a few words; undefined while they are in place. */
  change(): string | undefined {
    for (const { path, identity } of this.#files) {
      const now = identityOf(path);
      if (now !== identity) return `${path} was ${now === undefined ? 'deleted or moved' : 'replaced'}`;
    }
    return undefined;
  }
}

function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? undefined : `${found.dev}:${found.ino}`;
}

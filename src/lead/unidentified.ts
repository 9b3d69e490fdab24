import { createHash } from 'node:crypto';

interface Copies {
  /** In all passes, at most as many as one pass brought. */
  handedOut: number;
  met: number;
  /** The pass that `met` counts. */
  pass: number;
}

/**
 * The records without an id of one walk. Within one pass over the list each is another record, even where their bytes are
 * the same; when the list is read again, the same bytes are the same records.
 */
export class Unidentified {
  readonly #copies = new Map<string, Copies>();
  #pass = 0;

  /** The list, or a part of it, is read again. */
  nextPass(): void {
    this.#pass += 1;
  }

  /** Whether the record was not handed out in an earlier pass. */
  isNew({ bytes }: { readonly bytes: Uint8Array }): boolean {
    const digest = createHash('sha256').update(bytes).digest('base64url');
    const copies = this.#copies.get(digest) ?? { handedOut: 0, met: 0, pass: this.#pass };
    this.#copies.set(digest, copies);
    if (copies.pass !== this.#pass) Object.assign(copies, { met: 0, pass: this.#pass });
    copies.met += 1;
    if (copies.met <= copies.handedOut) return false;
    copies.handedOut = copies.met;
    return true;
  }
}

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOutputErrors } from '../files/errors.ts';
import { linesOf } from '../files/read.ts';
import { utf8 } from '../json/bytes.ts';
import type { Finding, LeadClass } from './classify-lead.ts';

export interface TemporaryLead {
  readonly id: string;
  readonly createdAt: string | undefined;
  readonly bytes: Uint8Array;
}

/** Characters of JSON that wait in memory. */
const mostWaiting = 1024 * 1024;

/** Any number of values that JSON can hold: what does not fit into a little memory waits in an unlinked temporary file. */
export class Spool<T> {
  #waiting: string[] = [];
  #waitingLength = 0;
  #file: FileHandle | undefined;
  readonly #encode: (value: T) => unknown;
  readonly #decode: (json: unknown) => T;
  count = 0;

  /** `encode` makes a value that JSON can hold, of which `decode` makes the value again. */
  constructor(encode: (value: T) => unknown, decode: (json: unknown) => T) {
    this.#encode = encode;
    this.#decode = decode;
  }

  async add(...values: readonly T[]): Promise<void> {
    this.count += values.length;
    for (const value of values) {
      const line = JSON.stringify(this.#encode(value));
      this.#waiting.push(line);
      this.#waitingLength += line.length;
    }
    if (this.#waitingLength > mostWaiting) await this.#writeToFile();
  }

  /** In the order in which they were added. May be read again. */
  async *batches(size: number): AsyncGenerator<readonly T[]> {
    let batch: T[] = [];
    for await (const value of this.values()) {
      batch.push(value);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  async *values(): AsyncGenerator<T> {
    if (this.#file === undefined) {
      for (const line of this.#waiting) yield this.#decode(JSON.parse(line));
      return;
    }
    await this.#writeToFile();
    for await (const lines of linesOf(this.#file)) {
      for (const { bytes } of lines) yield this.#decode(JSON.parse(utf8(bytes)));
    }
  }

  async close(): Promise<void> {
    this.#waiting = [];
    await this.#file?.close();
    this.#file = undefined;
  }

  async #writeToFile(): Promise<void> {
    const text = this.#waiting.map((line) => `${line}\n`).join('');
    this.#waiting = [];
    this.#waitingLength = 0;
    await withOutputErrors(tmpdir(), async () => {
      this.#file ??= await openUnlinked();
      await this.#file.writeFile(text);
    });
  }
}

/** Pulled leads. A character stands for each byte: what the service sent may be no UTF-8. */
export const leadSpool = (): Spool<TemporaryLead> =>
  new Spool(
    ({ id, createdAt, bytes }) => [id, createdAt ?? null, Buffer.from(bytes).toString('latin1')],
    (value) => {
      const [id, createdAt, bytes] = value as readonly [string, string | null, string];
      return { id, createdAt: createdAt ?? undefined, bytes: Buffer.from(bytes, 'latin1') };
    },
  );

export const plainSpool = <T>(): Spool<T> =>
  new Spool<T>(
    (value) => value,
    (json) => json as T,
  );

export class FindingSpool {
  readonly #byClass = new Map<LeadClass, Spool<Finding>>();

  count(kind: LeadClass): number {
    return this.#byClass.get(kind)?.count ?? 0;
  }

  async add(finding: Finding): Promise<void> {
    const spool = this.#byClass.get(finding.class) ?? plainSpool<Finding>();
    this.#byClass.set(finding.class, spool);
    await spool.add(finding);
  }

  async *findings(classes: readonly LeadClass[]): AsyncGenerator<Finding> {
    for (const kind of classes) yield* this.#byClass.get(kind)?.values() ?? [];
  }

  async close(): Promise<void> {
    for (const spool of this.#byClass.values()) await spool.close();
  }
}

/** A file without a name is gone when the process ends, however it ends. Windows keeps the name until then. */
async function openUnlinked(): Promise<FileHandle> {
  const path = join(tmpdir(), `leads-${randomBytes(16).toString('hex')}`);
  const file = await open(path, 'wx+', 0o600);
  // The call is synchronous, since a process that is killed in between leaves the file.
  rmSync(path, { force: true });
  return file;
}

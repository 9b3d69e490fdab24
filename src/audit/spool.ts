import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withOutputErrors } from '../files/errors.ts';
import { chunksOf, linesIn } from '../files/read.ts';
import { utf8 } from '../json/bytes.ts';
import type { RawLead } from '../lead/raw-lead.ts';

/** In UTF-16 units of JSON. */
const mostInMemory = 1024 * 1024;

/**
 * Keeps any number of values in little memory, and reads them in the order in which they were added, as often as is asked for.
 * They wait in memory as lines of JSON, until `flush` finds these too long and appends them to a temporary file without a name.
 */
export class Spool<T> {
  #linesInMemory: string[] = [];
  #lengthInMemory = 0;
  #file: FileHandle | undefined;
  readonly #encode: (value: T) => unknown;
  readonly #decode: (json: unknown) => T;
  count = 0;

  /** `encode` makes a value that JSON can hold, of which `decode` makes the value again. */
  constructor(encode = (value: T): unknown => value, decode = (json: unknown): T => json as T) {
    this.#encode = encode;
    this.#decode = decode;
  }

  /** Needs no promise, which would cost more than all else. After a batch of values comes a `flush`. */
  add(value: T): void {
    this.count += 1;
    const line = JSON.stringify(this.#encode(value));
    this.#linesInMemory.push(line);
    this.#lengthInMemory += line.length;
  }

  async flush(): Promise<void> {
    if (this.#lengthInMemory > mostInMemory) await this.#appendToFile();
  }

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
      for (const line of this.#linesInMemory) yield this.#decode(JSON.parse(line));
      return;
    }
    await this.#appendToFile();
    for await (const lines of linesIn(chunksOf(this.#file, 0))) {
      for (const { bytes } of lines) yield this.#decode(JSON.parse(utf8(bytes)));
    }
  }

  async close(): Promise<void> {
    this.#linesInMemory = [];
    await this.#file?.close();
    this.#file = undefined;
  }

  async #appendToFile(): Promise<void> {
    const text = this.#linesInMemory.map((line) => `${line}\n`).join('');
    this.#linesInMemory = [];
    this.#lengthInMemory = 0;
    const append = async (): Promise<void> => {
      this.#file ??= await openUnlinked();
      await this.#file.writeFile(text);
    };
    await withOutputErrors(tmpdir(), append, 'TMPDIR');
  }
}

/** A lead in the service's own bytes. */
export interface PulledLead extends Pick<RawLead, 'createdAt' | 'bytes'> {
  readonly id: string;
}

/** A character stands for each byte, since what the service sent may be no UTF-8. */
export const leadSpool = (): Spool<PulledLead> =>
  new Spool(
    ({ id, createdAt, bytes }) => [id, createdAt ?? null, Buffer.from(bytes).toString('latin1')],
    (value) => {
      const [id, createdAt, bytes] = value as readonly [string, string | null, string];
      return { id, createdAt: createdAt ?? undefined, bytes: Buffer.from(bytes, 'latin1') };
    },
  );

/** A file without a name is gone when the process ends, however it ends. Windows keeps the name until then. */
async function openUnlinked(): Promise<FileHandle> {
  const path = join(tmpdir(), `leads-${randomBytes(16).toString('hex')}`);
  const file = await open(path, 'wx+', 0o600);
  // The call is synchronous, since a process that is killed in between leaves the file.
  rmSync(path, { force: true });
  return file;
}

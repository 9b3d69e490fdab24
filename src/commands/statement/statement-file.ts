import { createHash } from 'node:crypto';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { DataError, UsageError } from '../../errors.ts';
import { findOutputPlace } from '../../files/output-place.ts';
import { chunksOf, linesIn, unreadable } from '../../files/read.ts';
import { utf8 } from '../../json/bytes.ts';
import { CompactRange, leafHash } from '../../statement/merkle-tree.ts';
import { isSignedBy, readPublicKey, type SignerName } from '../../statement/signed-note.ts';
import {
  borderOf,
  readHeader,
  readLine,
  readSignature,
  signatureLength,
  signedMessage,
  type StatementHeader,
  type StatementLine,
} from '../../statement/statement-format.ts';

export interface OpenedStatement {
  readonly header: StatementHeader;
  /** As the header says it; the lines end only where its signature holds. */
  readonly signer: SignerName;
  /**
   * All lines in order, each with its bytes. Throws a `DataError` where one is wrong, and at the end where number, root or
   * signature are.
   */
  lines(): AsyncGenerator<StatementLine & { readonly text: string }>;
}

/** A line that is longer is no header: so much is read to find it. */
const longestHeader = 1024 * 1024;

/** Throws a `DataError` for what is no statement. */
export async function openStatement(path: string): Promise<OpenedStatement> {
  const wrong = (why: string): DataError => new DataError(`${path} is no statement that holds: ${why}`);
  const { header, signature, size } = await withFile(path, async (file) => {
    const { size } = await file.stat();
    const last = Buffer.alloc(signatureLength);
    const head = Buffer.alloc(Math.min(size, longestHeader));
    await file.read(last, 0, signatureLength, Math.max(0, size - signatureLength));
    await file.read(head, 0, head.length, 0);
    return {
      size: size - signatureLength,
      signature: readSignature(last.toString('latin1')),
      header: readHeader(head.toString('utf8').split('\n', 1)[0] ?? ''),
    };
  });
  if (header === undefined) {
    throw wrong(
      "its first line is none of leads/statement version 1; a newer leads may read it: 'npm install leads-cli@latest'",
    );
  }
  if (signature === undefined) throw wrong('its last line is no signature: it may be cut');
  const signer = readPublicKey(header.signer);
  if (signer === undefined) throw wrong('it names no signer');
  return {
    header,
    signer,
    async *lines() {
      const file = await opened(path);
      try {
        const content = createHash('sha256');
        const tree = new CompactRange();
        let [number, last, lastByte, accepted] = [0, '', 0, 0];
        const [since, until] = [Date.parse(header.since), Date.parse(header.until)];
        const hashed = async function* () {
          for await (const chunk of chunksOf(file, 0, size)) {
            content.update(chunk);
            lastByte = chunk.at(-1) ?? lastByte;
            yield chunk;
          }
        };
        for await (const batch of linesIn(hashed())) {
          for (const { bytes } of batch) {
            number += 1;
            if (number === 1) continue;
            const text = utf8(bytes);
            const line = readLine(text);
            if (line === undefined || line.digest <= last) {
              throw wrong(`line ${number} ${line === undefined ? 'is not in its form' : 'is not in order'}`);
            }
            const border = borderOf(line.at, { since, until });
            if (line.border !== border) throw wrong(`line ${number} is not marked as its time is`);
            if (border === undefined) accepted += 1;
            last = line.digest;
            tree.append(leafHash(bytes));
            yield { ...line, text };
          }
        }
        const { lines, root } = header;
        if (lastByte !== 0x0a || tree.size !== lines)
          throw wrong(`it says ${lines} lines, and has ${tree.size}`);
        if (accepted !== header.counts.accepted)
          throw wrong(`it counts ${header.counts.accepted} leads, and has lines of ${accepted}`);
        if (Buffer.from(tree.root()).toString('base64') !== root) throw wrong('its root is another one');
        if (!isSignedBy(signedMessage(content.digest()), signature, signer)) {
          throw wrong('its signature is not of these bytes');
        }
      } finally {
        await file.close();
      }
    },
  };
}

/**
 * Whether there is a statement at `output` by the same signer of the same period, which is replaced. Throws a `UsageError` where
 * anything else is there, or the statement that the new one goes on from.
 */
export async function checkStatementPlace(
  {
    output = '-',
    previous,
  }: { readonly output?: string | undefined; readonly previous?: string | undefined },
  made: Pick<StatementHeader, 'signer' | 'basis'> & { readonly since: number; readonly until: number },
): Promise<boolean> {
  const place = output === '-' ? undefined : await findOutputPlace(output);
  if (place?.kind !== 'file' || place.mode === undefined) return false;
  const refused = (what: string, cause?: unknown): UsageError =>
    new UsageError(`${output} exists and is ${what}: it is not overwritten`, {
      hint: 'name another file with -o, or remove it',
      cause,
    });
  const there = await stat(place.path);
  if (there.size === 0) return false;
  const before = previous === undefined ? undefined : await stat(previous).catch(() => undefined);
  if (before?.ino === there.ino && before.dev === there.dev) throw refused('the one of --previous');
  const { header } = await openStatement(place.path).catch((cause: unknown) => {
    throw refused('no statement', cause);
  });
  const isOfPeriod = Date.parse(header.since) === made.since && Date.parse(header.until) === made.until;
  if (header.signer !== made.signer || header.basis !== made.basis || !isOfPeriod) {
    throw refused(`a statement of ${header.since} to ${header.until} by ${header.signer}`);
  }
  return true;
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await opened(path);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function opened(path: string): Promise<FileHandle> {
  try {
    const file = await open(path);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (cause) {
    throw new DataError(unreadable(path, cause), { cause });
  }
  throw new DataError(`${path} is no regular file, which a statement must be: it is read more than once`);
}

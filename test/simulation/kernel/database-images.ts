import * as fs from 'node:fs';
import type { Random } from './random.ts';

/** What the files of a database hold. */
export interface DatabaseImage {
  readonly database: Buffer;
  readonly log: Buffer;
}

const headerBytes = 32;
const frameHeaderBytes = 24;
const sectorBytes = 512;

export function readImage(path: string): DatabaseImage {
  const read = (file: string): Buffer => (fs.existsSync(file) ? fs.readFileSync(file) : Buffer.alloc(0));
  return { database: read(path), log: read(`${path}-wal`) };
}

/** Writes it to new files, which no connection has open; the next one to open it reads the log as after a crash. */
export function writeImage(path: string, { database, log }: DatabaseImage): void {
  for (const ending of ['', '-wal', '-shm']) fs.rmSync(path + ending, { force: true });
  fs.writeFileSync(path, database, { mode: 0o600 });
  if (log.length > 0) fs.writeFileSync(`${path}-wal`, log, { mode: 0o600 });
}

/** What a power loss leaves of a step that writes, by the images before and after it. */
export function afterPowerLoss(before: DatabaseImage, after: DatabaseImage, random: Random): DatabaseImage {
  const isCopied = !before.database.equals(after.database);
  const stage = random.between(0, isCopied ? 2 : 0);
  if (after.log.length < before.log.length) {
    // The log is cut once the database holds what was in it, and is synced.
    if (stage === 0)
      return { ...before, database: mixedPages(before.database, after.database, before, random) };
    return stage === 1 ? { database: after.database, log: before.log } : after;
  }
  // The database is written once the log is synced.
  if (stage === 0) return { database: before.database, log: mixedFrames(before.log, after.log, random) };
  if (stage === 1) return { ...after, database: mixedPages(before.database, after.database, after, random) };
  return after;
}

/** The same of steps that sync nothing. */
export const afterPowerLossUnordered = (
  before: DatabaseImage,
  after: DatabaseImage,
  random: Random,
): DatabaseImage => ({
  database: mixedPages(before.database, after.database, after, random),
  log: mixed(before.log, after.log, changedFrames(before.log, after.log), () => false, random),
});

/** What the system holds when the process is killed in the step: it wrote the frames of the log in their order. */
export function afterKill(before: DatabaseImage, after: DatabaseImage, random: Random): DatabaseImage {
  if (after.log.length < before.log.length) return random.chance(0.5) ? before : after;
  const changed = changedFrames(before.log, after.log);
  const count = random.between(0, changed.length);
  const last = changed[count - 1];
  if (last === undefined) return before;
  if (count === changed.length) return after;
  const { log } = after;
  const kept = Buffer.concat([log.subarray(0, last.end), before.log.subarray(last.end)]);
  return { database: before.database, log: kept };
}

interface Part {
  readonly start: number;
  readonly end: number;
}

/** The header and the frames that differ; no frame that stays lies between two that do not. */
function changedFrames(before: Buffer, after: Buffer): Part[] {
  const frame = frameHeaderBytes + pageBytesOf(after);
  const parts: Part[] = [{ start: 0, end: Math.min(headerBytes, after.length) }];
  for (let start = headerBytes; start < after.length; start += frame) {
    parts.push({ start, end: Math.min(after.length, start + frame) });
  }
  return parts.filter(
    ({ start, end }) => end > start && !before.subarray(start, end).equals(after.subarray(start, end)),
  );
}

function pageBytesOf(log: Buffer): number {
  const size = log.length >= headerBytes ? log.readUInt32BE(8) : 0;
  return size === 0 ? 4096 : size;
}

/** Each frame is there or not, whole or in sectors; a header is synced before the first frame behind it is written. */
function mixedFrames(before: Buffer, after: Buffer, random: Random): Buffer {
  const parts = changedFrames(before, after);
  const [first] = parts;
  if (first?.start === 0 && random.chance(0.2))
    return random.chance(0.5) ? before : withPart(before, after, first);
  return mixed(before, after, parts, ({ start }) => start === 0, random);
}

function mixedPages(before: Buffer, after: Buffer, { log }: DatabaseImage, random: Random): Buffer {
  const page = pageBytesOf(log);
  const parts: Part[] = [];
  for (let start = 0; start < after.length; start += page) {
    const end = Math.min(after.length, start + page);
    if (!before.subarray(start, end).equals(after.subarray(start, end))) parts.push({ start, end });
  }
  return mixed(before, after, parts, () => false, random);
}

function mixed(
  before: Buffer,
  after: Buffer,
  parts: readonly Part[],
  isSynced: (part: Part) => boolean,
  random: Random,
): Buffer {
  let bytes = before;
  for (const part of parts) {
    const fate = isSynced(part) ? 0 : random.between(0, 3);
    if (fate <= 1) bytes = withPart(bytes, after, part);
    if (fate !== 2) continue;
    for (let { start } = part; start < part.end; start += sectorBytes) {
      const sector = { start, end: Math.min(part.end, start + sectorBytes) };
      if (random.chance(0.5)) bytes = withPart(bytes, after, sector);
    }
  }
  return bytes;
}

/** Zeros in place of what was never written. */
function withPart(bytes: Buffer, from: Buffer, { start, end }: Part): Buffer {
  const next = Buffer.alloc(Math.max(bytes.length, end));
  bytes.copy(next);
  from.copy(next, start, start, end);
  return next;
}

import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { stat } from 'node:fs/promises';
import { linesIn } from '../../files/lines.ts';
import { PartialFile } from '../../files/partial.ts';
import { cellText, eachMember } from '../../output/cells.ts';
import type { Service } from '../../service/client/service.ts';
import { type Checkpoint, mustMatch, readCheckpoint } from './checkpoint.ts';
import { type FilePaths, isDirect } from './file-paths.ts';
import { type ExportPlan, planExport } from './plan.ts';
import type { ExportOptions } from './options.ts';
import type { Beginning } from './to-file.ts';
import { utf8 } from '../../json/bytes.ts';

export interface Begun {
  readonly job: ExportPlan;
  readonly beginning: Beginning;
  /** Set when an earlier attempt is resumed. */
  readonly checkpoint: Checkpoint | undefined;
}

/** An earlier attempt that had walked everything, and lacks at most the output's name. */
export interface Walked {
  readonly checkpoint: Checkpoint;
  /** Undefined when the output has its name already. */
  readonly file: PartialFile | undefined;
}

/** Opens the partial file: empty, or where an interrupted export left it, with the ids of what it holds. */
export async function openOutput(
  service: Service,
  options: ExportOptions,
  paths: FilePaths,
  now: number,
): Promise<Begun | Walked> {
  const found = options.resume ? await readCheckpoint(paths.checkpoint) : undefined;
  const partial = await exists(paths.partial);
  // Killed between the rename and the last tidying: the output has its name already.
  const named = found?.position === null && !partial && (await exists(paths.file));
  const checkpoint = partial || named ? found : undefined;
  const job = await planExport(service, options, checkpoint?.startedAt ?? now);
  const of = identity(job);
  if (checkpoint === undefined) {
    const file = await PartialFile.create(paths.partial, paths.mode);
    return { job, beginning: { of, file, from: undefined }, checkpoint };
  }
  // The bookmark, and with it where the walk would begin, may have moved on already when all was walked.
  const moved = checkpoint.position === null && options.bookmark !== undefined;
  mustMatch(checkpoint, moved ? { ...of, since: checkpoint.of['since'] } : of);
  if (named) return { checkpoint, file: undefined };
  const file = await PartialFile.resume(paths.partial, checkpoint.bytes);
  if (checkpoint.position === null) return { checkpoint, file };
  await recall(job, paths.partial, checkpoint.bytes);
  return { job, beginning: { of, file, from: checkpoint.position }, checkpoint };
}

/** What must not change between an export and its resumption. */
function identity({ account, query, options }: ExportPlan): Record<string, unknown> {
  const { format, fields = null, gzip, max = null, pageSize = null, bookmark = null } = options;
  const time = (at: number | undefined): string | null =>
    at === undefined ? null : new Date(at).toISOString();
  return {
    ...account,
    since: time(query.since),
    until: time(query.until),
    format,
    fields,
    gzip,
    max,
    pageSize,
    bookmark: bookmark !== null,
  };
}

/** Ids and times of the records that the partial file holds. */
async function recall({ seen, window, options }: ExportPlan, path: string, bytes: number): Promise<void> {
  if (bytes === 0) return;
  const raw = createReadStream(path, { end: bytes - 1, highWaterMark: 256 * 1024 });
  const plain = options.gzip && isDirect(options) ? raw.pipe(createGunzip()) : raw;
  for await (const lines of linesIn(plain as AsyncIterable<Buffer>)) {
    for (const line of lines) {
      const record = identityOf(utf8(line.bytes));
      if (record.id !== undefined) seen.preload(record.id);
      window?.note(record);
    }
  }
}

function identityOf(json: string): { id: string | undefined; createdAt: string | undefined } {
  let id: string | undefined;
  let createdAt: string | undefined;
  eachMember(json, (path, raw) => {
    if (path === 'id') id = raw.startsWith('"') || /^-?\d+$/.test(raw) ? cellText(raw) : undefined;
    else if (path === 'createdAt') createdAt = raw.startsWith('"') ? cellText(raw) : undefined;
  });
  return { id, createdAt };
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

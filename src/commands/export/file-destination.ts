import { rm } from 'node:fs/promises';
import { messageOf } from '../../errors.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { bufferOf } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/lead-reader.ts';
import type { ScannedRecord } from '../../json/scanned-record.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { type GzipSink, gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink, RecordWriter } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { StatusLine } from '../../output/terminal/status-line.ts';
import { IncompleteError, mayHelpFromStart } from '../../service/listing-types.ts';
import { type Position, start } from '../../service/pagers/position.ts';
import { startDigest } from './bookmark.ts';
import { type Checkpoint, checkSameExport, type FilePaths, partialIsOutput } from './checkpoint.ts';
import { findKnownFile } from './known-file.ts';
import type { ExportPlan, Publication } from './plan.ts';
import { publishFile } from './publish.ts';
import type { Destination } from './walk.ts';
import { isoTime } from '../../time/time-text.ts';

const checkpointEveryMs = 250;
const checkpointEveryBytes = 16 * 1024 * 1024;

/**
 * `records` writes to `compression` if there is one, which writes to `file`. `appendTo` is the length of the output to append to,
 * null for a new or a replaced output.
 */
interface Parts {
  readonly paths: FilePaths;
  readonly identity: Checkpoint['of'];
  readonly file: PartialFile;
  readonly records: RecordWriter;
  readonly compression: GzipSink | undefined;
  readonly appendTo: number | null;
}

/**
 * Opens the partial file, or continues the one of `checkpoint`, whose leads are then known to the plan. Returns undefined if they
 * cannot be recognized, because their ids are not in their records. Throws a `UsageError` if the output or the flags are not
 * those of the checkpoint.
 */
export async function openFileDestination(
  plan: ExportPlan,
  paths: FilePaths,
  checkpoint: Checkpoint | undefined,
): Promise<FileDestination | undefined> {
  const { options } = plan;
  const identity = exportIdentity(plan);
  if (checkpoint !== undefined) checkSameExport(checkpoint, identity, paths);
  const isAppended = options.bookmark !== undefined && !options.replace;
  const knownFile = isAppended ? await findKnownFile(paths.file, options, plan.bookmark) : undefined;
  if (checkpoint !== undefined) {
    const recordsWithoutId = await rememberWritten(plan, paths.partial, checkpoint);
    if (recordsWithoutId > checkpoint.counts.withoutId) return undefined;
  }
  const file =
    checkpoint === undefined
      ? await PartialFile.create(paths.partial, paths.mode)
      : await PartialFile.resume(paths.partial, checkpoint.bytes);
  try {
    const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compression = options.gzip && partialIsOutput(options) ? gzipSink(plain) : undefined;
    const records = await recordWriter('ndjson', compression ?? plain);
    const parts = { paths, identity, file, records, compression, appendTo: knownFile?.bytes ?? null };
    return new FileDestination(plan, parts, checkpoint);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * A partial file with a checkpoint beside it, which says how much of it is on disk and where the next page begins. A checkpoint
 * is made at the end of each page (`#latest`), and saved from time to time: `#saved` is on disk since `#savedAt`, in ms. The file
 * gets the name of the output at the end.
 */
class FileDestination implements Destination {
  readonly status: StatusLine | undefined;
  readonly #plan: ExportPlan;
  readonly #parts: Parts;
  #latest: Checkpoint;
  #saved: Checkpoint | undefined;
  #savedAt: number;

  constructor(plan: ExportPlan, parts: Parts, from: Checkpoint | undefined) {
    this.status = plan.context.status;
    this.#plan = plan;
    this.#parts = parts;
    this.#saved = from;
    this.#savedAt = plan.context.clock.now();
    this.#latest = this.#checkpoint(from?.position ?? start);
  }

  begin(): Promise<void> {
    return this.#save();
  }

  position(): Position | undefined {
    return this.#latest.position ?? undefined;
  }

  write(leads: readonly RawLead[]): Promise<void> {
    return this.#parts.records.write(leads);
  }

  async pageEnd(next: Position | undefined): Promise<void> {
    await this.#parts.records.flush();
    // A resumed run can only append to whole members of the compressed file: without a cut, there is no checkpoint yet.
    if (this.#parts.compression !== undefined && !(await this.#parts.compression.endMember())) return;
    if (next === undefined) return;
    this.#latest = this.#checkpoint(next);
    const grown = this.#latest.bytes - (this.#saved?.bytes ?? 0);
    const waitedMs = this.#plan.context.clock.now() - this.#savedAt;
    if (waitedMs >= checkpointEveryMs || grown >= checkpointEveryBytes) await this.#save();
  }

  walkEnd(): Promise<void> {
    return this.#save();
  }

  async end(): Promise<Publication | undefined> {
    const plan = this.#plan;
    const { paths, file, records } = this.#parts;
    await records.end();
    this.#latest = this.#checkpoint(null, plan.window?.bookmark(plan.account) ?? null);
    await this.#save();
    return publishFile({ plan, paths, checkpoint: this.#latest }, file);
  }

  async breakOff(error: unknown): Promise<string | undefined> {
    const { checkpoint, partial } = this.#parts.paths;
    const { leads, withoutId } = this.#latest.counts;
    const isUnproven = error instanceof IncompleteError;
    // A flush that fails makes saving fail as well, which says it.
    if (isUnproven) await this.#flush().catch(() => undefined);
    const isAutomatic = this.#plan.options.bookmark !== undefined;
    const nextReadsFromStart = isUnproven || (isAutomatic && mayHelpFromStart(error));
    if (nextReadsFromStart && withoutId > 0) {
      // Without a checkpoint the next run starts over: it would else write the records without ids a second time.
      await rm(checkpoint, { force: true });
      const records = counted(withoutId, 'record without an id', 'records without an id');
      return `${partial} is kept until the next run, which starts over for its ${records}; --accept-incomplete takes what comes for everything`;
    }
    if (isUnproven) {
      this.#latest = { ...this.#latest, position: start };
      return this.#keepPages(true);
    }
    // The checkpoint of a complete walk is kept even without leads: the output may be published, and the bookmark not yet moved.
    const isWalkComplete = this.#latest.position === null;
    if (leads > 0 || isWalkComplete) return this.#keepPages(false);
    await rm(checkpoint, { force: true });
    await rm(partial, { force: true });
    return undefined;
  }

  close(): Promise<void> {
    return this.#parts.file.close();
  }

  /** Saves the last checkpoint, and returns the sentence that says what is kept and how the next run continues. */
  async #keepPages(isUnproven: boolean): Promise<string> {
    const { options, context, totals } = this.#plan;
    // The last page of an unproven walk is in the partial file but not in the checkpoint: the next run reads it once more.
    let { leads } = isUnproven ? totals : this.#latest.counts;
    try {
      await this.#save();
    } catch (failure) {
      leads = this.#saved?.counts.leads ?? 0;
      // The first failure is the one to report; the checkpoint before it still holds.
      context.messages.verbose(`no newer checkpoint: ${messageOf(failure)}`);
    }
    const isAutomatic = options.bookmark !== undefined;
    const how = isUnproven
      ? `the next run reads the list again; ${isAutomatic ? '' : '--resume '}--accept-incomplete takes them for everything`
      : `run the same command ${isAutomatic ? 'again' : 'with --resume'} to continue`;
    const where = this.#latest.position === null ? '' : ` in ${this.#parts.paths.partial}`;
    return `${counted(leads, 'lead is', 'leads are')} kept${where}: ${how}`;
  }

  async #flush(): Promise<void> {
    await this.#parts.records.flush();
    await this.#parts.compression?.endMember(1);
  }

  /** The partial file is synced first: a checkpoint never describes bytes that are not on disk. */
  async #save(): Promise<void> {
    if (this.#saved === this.#latest) return;
    await this.#parts.file.sync();
    await writeJsonState(this.#parts.paths.checkpoint, this.#latest);
    this.#saved = this.#latest;
    this.#savedAt = this.#plan.context.clock.now();
  }

  #checkpoint(position: Checkpoint['position'], bookmark: Checkpoint['bookmark'] = null): Checkpoint {
    const { identity, appendTo, file } = this.#parts;
    return {
      version: 1,
      startedAt: this.#plan.startedAt,
      of: identity,
      appendTo,
      position,
      bytes: file.size,
      bookmark,
      counts: { ...this.#plan.totals },
    };
  }
}

/** The facts that must not change between an export and its resumption, with a digest of all ids of the bookmark. */
export function exportIdentity({ account, query, options, bookmark }: ExportPlan): Record<string, unknown> {
  const { format, fields = null, gzip, limit = null, pageSize = null } = options;
  return {
    ...account,
    since: isoTime(query.since),
    until: isoTime(query.until),
    format,
    fields,
    gzip,
    limit,
    pageSize,
    bookmark: options.bookmark !== undefined && startDigest(bookmark),
    escape: options.escape,
    bom: options.bom,
    delimiter: options.delimiter ?? null,
  };
}

/**
 * Makes the leads of the partial file known to the plan, as if this run had written them. Returns how many have no id in their
 * record: if these are more than had none in the walk, that walk found ids outside of the records.
 */
async function rememberWritten(plan: ExportPlan, path: string, { bytes }: Checkpoint): Promise<number> {
  const { window, options, service } = plan;
  if (bytes === 0) return 0;
  const { id: idName } = service.dialect;
  let withoutId = 0;
  const isCompressed = options.gzip && partialIsOutput(options);
  for await (const lines of linesIn(unpacked(path, isCompressed, bytes))) {
    for (const line of lines) {
      const record = recordIn(bufferOf(line.bytes), idName);
      if (record.id === undefined) withoutId += 1;
      else plan.ids.preload(record.id);
      window?.remember(record);
    }
  }
  return withoutId;
}

/** Documents of CouchDB have their id under `_id`. Elsewhere that member may be no id, and then no lead of the walk has it. */
function recordIn(line: Buffer, idName: string | undefined): ScannedRecord {
  const record = identifiedRecord(line, 0, idName);
  return record.hasId || idName !== undefined ? record : identifiedRecord(line, 0, '_id');
}

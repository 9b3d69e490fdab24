import { rm } from 'node:fs/promises';
import { UsageError } from '../../errors.ts';
import { writeJsonState } from '../../files/json-state.ts';
import { PartialFile } from '../../files/partial.ts';
import { linesIn, unpacked } from '../../files/read.ts';
import { bufferOf } from '../../json/bytes.ts';
import { identifiedRecord } from '../../json/members.ts';
import type { ScannedRecord } from '../../json/scanner.ts';
import type { RawLead } from '../../lead/raw-lead.ts';
import { gzipSink } from '../../output/records/gzip.ts';
import type { ByteSink } from '../../output/records/record-types.ts';
import { recordWriter } from '../../output/records/record-writer.ts';
import { counted } from '../../output/terminal/progress.ts';
import type { StatusLine } from '../../output/terminal/status-line.ts';
import { IncompleteError } from '../../service/listing-types.ts';
import { mayHelpFromStart } from '../../service/listing.ts';
import type { Position } from '../../service/pagers/position.ts';
import { startOf } from './bookmark.ts';
import { type Checkpoint, checkSameExport, type FilePaths, partialIsOutput } from './checkpoint.ts';
import { findKnownFile, type KnownFile } from './known-file.ts';
import type { Destination, ExportPlan, ExportRun, Publication } from './plan.ts';
import { publishFile } from './publish.ts';

const checkpointEveryMs = 250;
const checkpointEveryBytes = 16 * 1024 * 1024;

interface Parts {
  readonly paths: FilePaths;
  /** It holds a digest of all ids of the bookmark, and is made once for all checkpoints. */
  readonly identity: Checkpoint['of'];
  readonly file: PartialFile;
  readonly records: Awaited<ReturnType<typeof recordWriter>>;
  readonly compression: ReturnType<typeof gzipSink> | undefined;
  /** The file to append to; undefined: the partial file becomes the output. */
  readonly target: KnownFile | undefined;
  readonly mayHaveAppended: boolean;
}

/** A partial file with a checkpoint beside it, which says how much of it is on disk and where the next page begins. */
export class FileDestination implements Destination {
  readonly status: StatusLine | undefined;
  readonly #run: ExportRun;
  readonly #parts: Parts;
  #latest: Checkpoint;
  #saved: Checkpoint | undefined;
  #savedAt: number;
  /** The leads of the checkpoint that an earlier run left. */
  readonly #leadsBefore: number;

  private constructor(run: ExportRun, parts: Parts, from: Checkpoint | undefined) {
    this.status = run.context.status;
    this.#run = run;
    this.#parts = parts;
    this.#leadsBefore = from?.counts.leads ?? 0;
    this.#latest = this.#checkpoint(from?.position ?? { style: 'start' });
    this.#savedAt = run.context.clock.now();
  }

  /**
   * Throws a `UsageError` where the output or the flags are not those of the checkpoint, and an `IdsOutsideError` where the
   * leads of the partial file cannot be known again.
   */
  static async open(
    run: ExportRun,
    paths: FilePaths,
    checkpoint: Checkpoint | undefined,
    mayHaveAppended: boolean,
  ): Promise<FileDestination> {
    const { plan } = run;
    const { options } = plan;
    const identity = exportIdentity(plan);
    if (checkpoint !== undefined) checkSameExport(checkpoint, identity, paths);
    const target =
      options.bookmark === undefined || options.replace
        ? undefined
        : await findKnownFile(paths.file, options, plan.bookmark, mayHaveAppended);
    const file = await openPartial(plan, paths, checkpoint);
    const plain: ByteSink = { write: (bytes) => file.write(bytes), end: () => Promise.resolve() };
    const compression = options.gzip && partialIsOutput(options) ? gzipSink(plain) : undefined;
    const records = await recordWriter('ndjson', compression ?? plain);
    return new FileDestination(
      run,
      { paths, identity, file, records, compression, target, mayHaveAppended },
      checkpoint,
    );
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
    // A compressed file can be resumed at some pages only.
    if (this.#parts.compression !== undefined && !(await this.#parts.compression.cut())) return;
    if (next === undefined) return;
    this.#latest = this.#checkpoint(next);
    const grown = this.#latest.bytes - (this.#saved?.bytes ?? 0);
    const waitedMs = this.#run.context.clock.now() - this.#savedAt;
    if (waitedMs >= checkpointEveryMs || grown >= checkpointEveryBytes) await this.#save();
  }

  walkEnd(): Promise<void> {
    return this.#save();
  }

  async end(): Promise<Publication | undefined> {
    const { plan } = this.#run;
    await this.#parts.records.end();
    this.#latest = this.#checkpoint(null, plan.window?.bookmark(plan.account) ?? null);
    await this.#save();
    const publishing = {
      plan,
      paths: this.#parts.paths,
      checkpoint: this.#latest,
      target: this.#parts.target,
    };
    return publishFile(publishing, this.#parts.file);
  }

  async breakOff(error: unknown): Promise<string | undefined> {
    const { bookmark } = this.#run.plan.options;
    const isUnproven = error instanceof IncompleteError;
    // A flush that fails makes saving fail as well, which says it.
    if (isUnproven) await this.#flush().catch(() => undefined);
    // An end without a proof is read again from the first page: records without ids would be written again as well.
    const startsOver = isUnproven || (bookmark !== undefined && mayHelpFromStart(error));
    if (this.#latest.counts.withoutId > 0 && startsOver) return this.#forgetPages();
    if (isUnproven) this.#latest = { ...this.#latest, position: { style: 'start' } };
    const { counts, position } = this.#latest;
    // After a complete walk the file may have its name, which only the checkpoint knows until the bookmark does.
    if (counts.leads === 0 && !isUnproven && position !== null && !this.#parts.mayHaveAppended) {
      await rm(this.#parts.paths.checkpoint, { force: true });
      await rm(this.#parts.paths.partial, { force: true });
      return undefined;
    }
    return this.#keepPages(isUnproven);
  }

  close(): Promise<void> {
    return this.#parts.file.close();
  }

  /** The partial file is not continued, since its records without ids cannot be known again. */
  async #forgetPages(): Promise<string> {
    const { checkpoint, partial } = this.#parts.paths;
    const { withoutId } = this.#latest.counts;
    if (!this.#parts.mayHaveAppended) await rm(checkpoint, { force: true });
    else {
      // Only the checkpoint knows what the output may end with: it is kept in one that begins at the first page.
      const counts = { leads: 0, duplicates: 0, withoutId: 0, retries: 0 };
      const front: Checkpoint = { ...this.#latest, position: { style: 'start' }, bytes: 0, counts };
      const unsaved = await writeJsonState(checkpoint, front).catch(messageOfFailure);
      if (unsaved !== undefined) return `the next run goes on from an older checkpoint: ${unsaved}`;
    }
    const records = counted(withoutId, 'record without an id', 'records without an id');
    return `${partial} is kept until the next run, which starts over for its ${records}; --accept-incomplete takes what comes for everything`;
  }

  async #keepPages(isUnproven: boolean): Promise<string> {
    const { plan, context, totals } = this.#run;
    const { options } = plan;
    // The last page, if it proves nothing, is kept after the checkpoint: it is to be read and counted again.
    let { leads } = isUnproven ? totals : this.#latest.counts;
    try {
      await this.#save();
    } catch (failure) {
      leads = this.#saved?.counts.leads ?? this.#leadsBefore;
      // The first failure is the one to report; the checkpoint before it still holds.
      context.messages.verbose(`no newer checkpoint: ${await messageOfFailure(failure)}`);
    }
    const resumes = options.bookmark !== undefined;
    const isWorkbook = options.format === 'xlsx';
    const how = isUnproven
      ? `the next run reads the list again; ${resumes || isWorkbook ? '' : '--resume '}--accept-incomplete takes them for everything`
      : isWorkbook
        ? 'a workbook is not continued, run the same command again'
        : `run the same command ${resumes ? 'again' : 'with --resume'} to continue`;
    const where = this.#latest.position === null ? '' : ` in ${this.#parts.paths.partial}`;
    return `${counted(leads, 'lead is', 'leads are')} kept${where}: ${how}`;
  }

  /** Brings everything into the partial file, also what is too little for a member of a compressed one. */
  async #flush(): Promise<void> {
    await this.#parts.records.flush();
    await this.#parts.compression?.cut(1);
  }

  /** The partial file is synced first: a checkpoint never describes bytes that are not on disk. */
  async #save(): Promise<void> {
    if (this.#saved === this.#latest) return;
    await this.#parts.file.sync();
    await writeJsonState(this.#parts.paths.checkpoint, this.#latest);
    this.#saved = this.#latest;
    this.#savedAt = this.#run.context.clock.now();
  }

  #checkpoint(position: Checkpoint['position'], bookmark: Checkpoint['bookmark'] = null): Checkpoint {
    const { plan, totals } = this.#run;
    const { leads, duplicates, withoutId, retries, leftOut } = totals;
    return {
      ...{ version: 1, startedAt: plan.startedAt, of: this.#parts.identity },
      ...{ appendTo: this.#parts.target?.known ?? null, position, bytes: this.#parts.file.size, bookmark },
      counts: { leads, duplicates, withoutId, retries, leftOut },
      ...(this.#parts.mayHaveAppended && { mayHaveAppended: true }),
    };
  }
}

async function messageOfFailure(failure: unknown): Promise<string> {
  const { sentenceOf } = await import('../../messages/find-message.ts');
  return sentenceOf(failure);
}

/** Empty, or as an interrupted export left it, whose leads the walk then knows. */
async function openPartial(
  plan: ExportPlan,
  paths: FilePaths,
  from: Checkpoint | undefined,
): Promise<PartialFile> {
  if (from === undefined) return PartialFile.create(paths.partial, paths.mode);
  const file = await PartialFile.resume(paths.partial, from.bytes);
  try {
    await preloadIds(plan, paths.partial, from);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** The facts that must not change between an export and its resumption. */
export function exportIdentity({ account, query, options, bookmark }: ExportPlan): Record<string, unknown> {
  const { format, fields = null, gzip, limit = null, pageSize = null } = options;
  const isoTime = (ms: number | undefined): string | null =>
    ms === undefined ? null : new Date(ms).toISOString();
  return {
    ...account,
    since: isoTime(query.since),
    until: isoTime(query.until),
    ...{ format, fields, gzip, limit, pageSize },
    bookmark: options.bookmark !== undefined && startOf(bookmark),
    escape: options.escape,
    bom: options.bom,
    delimiter: options.delimiter ?? null,
  };
}

/** The ids of the leads of an interrupted export are not known any more. */
export class IdsOutsideError extends UsageError {
  constructor() {
    super('this export cannot be resumed: the ids of its leads stand outside of what was written', {
      hint: 'start again without --resume; a field of the leads that identifies them: leads config set api.id NAME',
    });
  }
}

/**
 * Reads the ids and times of the records that the partial file holds. Throws an `IdsOutsideError` when the walk that
 * wrote them found ids outside of them.
 */
async function preloadIds(plan: ExportPlan, path: string, { bytes, counts }: Checkpoint): Promise<void> {
  const { window, options, service } = plan;
  if (bytes === 0) return;
  const { id: idName } = service.dialect;
  let withoutId = 0;
  const isCompressed = options.gzip && partialIsOutput(options);
  for await (const lines of linesIn(unpacked(path, isCompressed, bytes))) {
    for (const line of lines) {
      const record = recordIn(bufferOf(line.bytes), idName);
      if (record.id === undefined) withoutId += 1;
      else plan.seen.preload(record.id);
      window?.remember(record);
    }
  }
  if (withoutId > counts.withoutId) throw new IdsOutsideError();
}

/** Documents of CouchDB have their id under `_id`; without unwrapping, an id that no lead of the walk has does no harm. */
function recordIn(line: Buffer, idName: string | undefined): ScannedRecord {
  const record = identifiedRecord(line, 0, idName);
  return record.hasId || idName !== undefined ? record : identifiedRecord(line, 0, '_id');
}

import { type FileHandle, open } from 'node:fs/promises';
import { withOutputErrors } from '../../files/errors.ts';
import { writeAt } from '../../files/partial.ts';
import { chunksOf, linesIn } from '../../files/read.ts';
import type { AttemptRecord, Inbox, StoredRef } from '../../inbox/inbox.ts';
import type { IdField } from '../../lead/find-leads.ts';
import { readLead } from '../../lead/read-leads.ts';
import { isUnreadable, leadOf, storedDelivery } from '../stored-request.ts';
import { appendTargetName, endsInsideLine, lineFeed } from './append.ts';

/** `waiting`: the leads that wait for the target, by their ids. */
interface Repair {
  readonly file: FileHandle;
  readonly target: string;
  readonly waiting: Map<string, StoredRef>;
  readonly inbox: Pick<Inbox, 'waiting' | 'record' | 'list'>;
  readonly idField: IdField;
}

/**
 * Repairs the output file `path` of a process that was killed. Leads that it wrote and did not record are recorded as delivered,
 * so that they are not written a second time. A last line without a line feed is cut off where it is the beginning of a lead that
 * waits for the file; any other one stays. `idField`: the field that is a lead's id; `host`: as for `openAppendTarget`. Resolves
 * with whether a line was cut off. Throws an `OutputError` when the file cannot be read or written.
 */
export const repairOutputFile = (...options: Parameters<typeof repair>): Promise<boolean> =>
  withOutputErrors(options[0], () => repair(...options));

async function repair(
  path: string,
  inbox: Repair['inbox'],
  idField: IdField,
  host?: string,
): Promise<boolean> {
  const target = appendTargetName(path, host);
  const waiting = new Map<string, StoredRef>();
  for await (const stored of inbox.waiting(target)) waiting.set(stored.leadId, stored);
  if (waiting.size === 0) return false;
  const file = await open(path, 'r+');
  try {
    // The lines of the process that was killed may not be on disk yet.
    await file.sync();
    const state: Repair = { file, target, waiting, inbox, idField };
    return await cutPartOfLead(await recordWrittenLeads(state), state);
  } finally {
    await file.close();
  }
}

interface Line {
  readonly bytes: Buffer;
  readonly start: number;
}

/** Records the waiting leads that are lines of the file, and removes them from `waiting`. Returns the last line, if need be empty. */
async function recordWrittenLeads({ file, target, waiting, inbox, idField }: Repair): Promise<Line> {
  let lastLine: Line = { bytes: Buffer.alloc(0), start: 0 };
  let start = 0;
  for await (const lines of linesIn(chunksOf(file, 0))) {
    const written: AttemptRecord[] = [];
    for (const { bytes } of lines) {
      const stored = waiting.get(leadIdIn(bytes, idField));
      // After a sync that failed, a line that can be read may never reach the disk, and no later sync reports it. So it is
      // written once more.
      if (stored !== undefined && (await rewriteLine(file, bytes, start)))
        written.push({ ...stored, target, claim: 1, outcome: 'done' });
      start += bytes.length + lineFeed.length;
    }
    const last = lines.at(-1);
    // The next chunk takes the place of this one.
    if (last !== undefined)
      lastLine = { bytes: Buffer.from(last.bytes), start: start - last.bytes.length - lineFeed.length };
    for (const { leadId } of written) waiting.delete(leadId);
    if (written.length > 0) {
      await file.datasync();
      await inbox.record(written);
    }
  }
  return lastLine;
}

/** The id in the field, or in that of the specification, in which it was expected when the lead was stored. */
function leadIdIn(line: Uint8Array, idField: IdField): string {
  const byField = readLead(line, idField);
  const read = byField.ok ? byField : readLead(line);
  return read.ok ? (read.lead.id ?? '') : '';
}

async function rewriteLine(file: FileHandle, line: Uint8Array, start: number): Promise<boolean> {
  const length = line.length + lineFeed.length;
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, start);
  if (!buffer.subarray(0, line.length).equals(line)) return false;
  await writeAt(file, buffer.subarray(0, bytesRead), start);
  return true;
}

async function cutPartOfLead({ bytes, start }: Line, state: Repair): Promise<boolean> {
  const { file } = state;
  const { size } = await file.stat();
  if (!(await endsInsideLine(file, size)) || !(await beginsLead(bytes, state))) return false;
  // Another program may have cut the file, or written after its last line, meanwhile.
  if ((await file.stat()).size !== start + bytes.length) return false;
  await file.truncate(start);
  await file.sync();
  return true;
}

async function beginsLead(part: Buffer, { waiting, inbox }: Repair): Promise<boolean> {
  for (const { seq } of waiting.values()) {
    try {
      const stored = await storedDelivery(inbox, seq);
      if (stored !== undefined && part.equals(leadOf(stored).lead.bytes.subarray(0, part.length)))
        return true;
    } catch (error) {
      if (!isUnreadable(error)) throw error;
    }
  }
  return false;
}

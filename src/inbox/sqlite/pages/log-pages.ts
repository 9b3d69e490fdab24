const headerBytes = 32;
const frameHeaderBytes = 24;

/**
 * The newest committed version of each page in a write-ahead log, by page number. A log that was not written, or not by a
 * commit, holds none. Rules: https://www.sqlite.org/fileformat2.html, "The Write-Ahead Log".
 */
export function logPages(log: Buffer): ReadonlyMap<number, Buffer> {
  const pages = new Map<number, Buffer>();
  if (log.length < headerBytes) return pages;
  const magic = log.readUInt32BE(0);
  if (magic !== 0x377f0682 && magic !== 0x377f0683) return pages;
  const words = new DataView(log.buffer, log.byteOffset, log.length);
  const isLittleEndian = magic === 0x377f0682;
  const pageSize = log.readUInt32BE(8);
  const salt = log.subarray(16, 24);
  let sum = checksum(words, { from: 0, to: 24 }, isLittleEndian, [0, 0]);
  if (!isSum(log, 24, sum)) return pages;
  let uncommitted: [number, Buffer][] = [];
  for (let at = headerBytes; at + frameHeaderBytes + pageSize <= log.length;) {
    const body = at + frameHeaderBytes;
    const end = body + pageSize;
    // What is left of the log before it was written from its start again.
    if (!log.subarray(at + 8, at + 16).equals(salt)) break;
    sum = checksum(words, { from: at, to: at + 8 }, isLittleEndian, sum);
    sum = checksum(words, { from: body, to: end }, isLittleEndian, sum);
    if (!isSum(log, at + 16, sum)) break;
    uncommitted.push([log.readUInt32BE(at), log.subarray(body, end)]);
    const isCommit = log.readUInt32BE(at + 4) !== 0;
    if (isCommit) {
      for (const [number, page] of uncommitted) pages.set(number, page);
      uncommitted = [];
    }
    at = end;
  }
  return pages;
}

type Sum = readonly [number, number];

const isSum = (log: Buffer, at: number, [first, second]: Sum): boolean =>
  log.readUInt32BE(at) === first && log.readUInt32BE(at + 4) === second;

function checksum(
  words: DataView,
  { from, to }: { from: number; to: number },
  isLittleEndian: boolean,
  sum: Sum,
): Sum {
  let [first, second] = sum;
  for (let at = from; at < to; at += 8) {
    first = (first + words.getUint32(at, isLittleEndian) + second) >>> 0;
    second = (second + words.getUint32(at + 4, isLittleEndian) + first) >>> 0;
  }
  return [first, second];
}

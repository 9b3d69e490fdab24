import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ByteSink } from './record-types.ts';

const compress = promisify(gzip);
/** Sizes before compression: a member of fewer bytes compresses badly, and one of more takes much memory. */
const [usualMinimum, maximum] = [1024 * 1024, 4 * 1024 * 1024];

/**
 * A gzip file of several members, which are compressed files one after the other (RFC 1952, section 2.2). The file can be cut
 * after each member, so an interrupted export continues there.
 */
export interface GzipSink extends ByteSink {
  /**
   * Ends the current member if it has `minimum` bytes. Returns whether everything written so far is in the sink below. The
   * ends of members depend on the bytes and the calls alone, so a resumed run writes the same file.
   */
  endMember(minimum?: number): Promise<boolean>;
}

export function gzipSink(sink: ByteSink): GzipSink {
  let memberPieces: Buffer[] = [];
  let memberLength = 0;
  let memberCount = 0;
  const writeMember = async (content: Buffer): Promise<void> => {
    memberCount += 1;
    await sink.write(await compress(content));
  };
  const takeAll = (): Buffer => {
    const content = Buffer.concat(memberPieces);
    memberPieces = [];
    memberLength = 0;
    return content;
  };
  return {
    async write(bytes) {
      memberPieces.push(Buffer.from(bytes));
      memberLength += bytes.length;
      if (memberLength < maximum) return;
      const content = takeAll();
      let offset = 0;
      for (; content.length - offset >= maximum; offset += maximum) {
        await writeMember(content.subarray(offset, offset + maximum));
      }
      memberPieces = [content.subarray(offset)];
      memberLength = content.length - offset;
    },
    async endMember(minimum = usualMinimum) {
      if (memberLength === 0) return true;
      if (memberLength < minimum) return false;
      await writeMember(takeAll());
      return true;
    },
    async end() {
      // A gzip file needs at least one member.
      if (memberLength > 0 || memberCount === 0) await writeMember(takeAll());
      await sink.end();
    },
  };
}

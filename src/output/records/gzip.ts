import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ByteSink } from './record-types.ts';

const compress = promisify(gzip);
const smallestMember = 1024 * 1024;
const largestMember = 4 * smallestMember;

/**
 * A gzip file of several members, one after the other (RFC 1952, section 2.2): the file may be cut after
 * each.
 */
export interface GzipSink extends ByteSink {
  /**
   * Ends the current member if it has `minimum` bytes (default: enough to compress well). Returns true when
   * everything written so far is in the sink below. The ends of members depend on the bytes and the calls
   * alone, so a resumed run writes the same file.
   */
  cut(minimum?: number): Promise<boolean>;
}

export function gzipSink(sink: ByteSink): GzipSink {
  let waiting: Buffer[] = [];
  let length = 0;
  let members = 0;
  const writeMember = async (content: Buffer): Promise<void> => {
    members += 1;
    await sink.write(await compress(content));
  };
  const takeWaiting = (): Buffer => {
    const content = Buffer.concat(waiting);
    waiting = [];
    length = 0;
    return content;
  };
  return {
    async write(bytes) {
      waiting.push(Buffer.from(bytes));
      length += bytes.length;
      if (length < largestMember) return;
      const content = takeWaiting();
      let offset = 0;
      for (; content.length - offset >= largestMember; offset += largestMember) {
        await writeMember(content.subarray(offset, offset + largestMember));
      }
      waiting = [content.subarray(offset)];
      length = content.length - offset;
    },
    async cut(minimum = smallestMember) {
      if (length === 0) return true;
      if (length < minimum) return false;
      await writeMember(takeWaiting());
      return true;
    },
    async end() {
      // A gzip file needs at least one member.
      if (length > 0 || members === 0) await writeMember(takeWaiting());
      await sink.end();
    },
  };
}

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ByteSink } from './record-types.ts';

const compress = promisify(gzip);
const smallestMember = 1024 * 1024;
const largestMember = 4 * smallestMember;

/** A gzip file of several members, one after the other (RFC 1952, section 2.2): a file may be cut after each. */
export interface GzipSink extends ByteSink {
  /**
   * Ends the current member if it has `least` bytes (default: what compresses well). True: everything written so far is in
   * the sink below. Where members end depends on the bytes and the calls alone, so a resumed run gives the same file.
   */
  cut(least?: number): Promise<boolean>;
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
      let at = 0;
      for (; content.length - at >= largestMember; at += largestMember) {
        await writeMember(content.subarray(at, at + largestMember));
      }
      waiting = [content.subarray(at)];
      length = content.length - at;
    },
    async cut(least = smallestMember) {
      if (length === 0) return true;
      if (length < least) return false;
      await writeMember(takeWaiting());
      return true;
    },
    async end() {
      // A file without a member is no gzip file.
      if (length > 0 || members === 0) await writeMember(takeWaiting());
      await sink.end();
    },
  };
}

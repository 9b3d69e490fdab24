import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ByteSink } from './record-types.ts';

const compress = promisify(gzip);
const smallestMember = 1024 * 1024;
const largestMember = 4 * smallestMember;

/** A gzip file of several members, one after the other (RFC 1952, section 2.2): each can be the last that is kept. */
export interface GzipSink extends ByteSink {
  /**
   * Ends the current member if it is large enough to stand alone. True: all that was written has gone to the sink
   * below. Where members end depends on the bytes and the calls alone, so a resumed run gives the same file.
   */
  cut(): Promise<boolean>;
}

export function gzipSink(sink: ByteSink): GzipSink {
  let waiting: Buffer[] = [];
  let length = 0;
  let members = 0;
  const member = async (content: Buffer): Promise<void> => {
    members += 1;
    await sink.write(await compress(content));
  };
  const take = (): Buffer => {
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
      const content = take();
      let at = 0;
      for (; content.length - at >= largestMember; at += largestMember) {
        await member(content.subarray(at, at + largestMember));
      }
      waiting = [content.subarray(at)];
      length = content.length - at;
    },
    async cut() {
      if (length === 0) return true;
      if (length < smallestMember) return false;
      await member(take());
      return true;
    },
    async end() {
      // A file without any member would not be a gzip file at all.
      if (length > 0 || members === 0) await member(take());
      await sink.end();
    },
  };
}

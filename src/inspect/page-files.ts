import { gzipSync } from 'node:zlib';
import { pageFile, type PageFileName } from '../files/embedded/asset.ts';
import type { Answer } from '../http/server/send-answer.ts';
import { acceptsGzip } from '../http/server/plain-server.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';

/** The files that the page consists of, by path: nothing else is ever read. */
const files = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/app.js': { name: 'app.js', type: 'text/javascript; charset=utf-8' },
  '/style.css': { name: 'style.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { name: 'icon.svg', type: 'image/svg+xml' },
} as const;

/** Gives the bytes of one of them. */
export type ReadPageFile = (name: PageFileName) => Uint8Array;

interface Packed {
  readonly whole: Uint8Array;
  readonly compressed: Uint8Array;
}

/** Answers requests for the page's own files, each read once; gives undefined for any other path. */
export function pageFiles(
  read: ReadPageFile = pageFile,
): (request: Pick<Delivery, 'path' | 'rawHeaders'>) => Answer | undefined {
  const packed = new Map<PageFileName, Packed>();
  return (request) => {
    const path = request.path.replace(/\?.*$/s, '');
    if (!isPath(path)) return undefined;
    const { name, type } = files[path];
    let file = packed.get(name);
    if (file === undefined) {
      const whole = read(name);
      file = { whole, compressed: gzipSync(whole, { level: 9 }) };
      packed.set(name, file);
    }
    const isPacked = acceptsGzip(headerValues(request, 'accept-encoding').join());
    const headers = { vary: 'accept-encoding', ...(isPacked && { 'content-encoding': 'gzip' }) };
    return { status: 200, text: { type, content: isPacked ? file.compressed : file.whole }, headers };
  };
}

const isPath = (path: string): path is keyof typeof files => Object.hasOwn(files, path);

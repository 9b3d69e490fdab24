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

/** Answers requests for the page's own files; undefined for any other path. */
export class PageFiles {
  readonly #read: ReadPageFile;
  readonly #packed = new Map<PageFileName, Packed>();

  constructor(read: ReadPageFile = pageFile) {
    this.#read = read;
  }

  answer(request: Pick<Delivery, 'path' | 'rawHeaders'>): Answer | undefined {
    const path = request.path.replace(/\?.*$/s, '');
    if (!isPath(path)) return undefined;
    const { name, type } = files[path];
    const { whole, compressed } = this.#load(name);
    const isPacked = acceptsGzip(headerValues(request, 'accept-encoding').join());
    const headers = { vary: 'accept-encoding', ...(isPacked ? { 'content-encoding': 'gzip' } : {}) };
    return { status: 200, text: { type, content: isPacked ? compressed : whole }, headers };
  }

  #load(name: PageFileName): Packed {
    let packed = this.#packed.get(name);
    if (packed === undefined) {
      const whole = this.#read(name);
      packed = { whole, compressed: gzipSync(whole, { level: 9 }) };
      this.#packed.set(name, packed);
    }
    return packed;
  }
}

const isPath = (path: string): path is keyof typeof files => Object.hasOwn(files, path);

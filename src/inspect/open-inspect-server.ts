import { openHttpsServer } from '../http/server/https-server.ts';
import type { Clock } from '../time/clock.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import { InspectKeys } from './inspect-keys.ts';
import { foreignHost, ownHosts, securityHeaders } from './request-guard.ts';
import { apiAnswer, type ApiParts } from './api.ts';
import { problemAnswer, rejectionAnswer } from './request-problem.ts';
import { keyParameter } from './wire.ts';
import { gzipSync } from 'node:zlib';
import { pageFile, type PageFileName } from '../files/embedded/asset.ts';
import type { Answer } from '../http/server/send-answer.ts';
import { acceptsGzip } from '../http/server/plain-server.ts';

/** What a client may cost: the page of one person, in a few tabs. */
const limits = {
  connections: 512,
  bodyBytes: 16 * 1024,
  bufferedBytes: 1024 * 1024,
} as const;

/** Answers under way get so long at the end, in milliseconds. */
const lastAnswersMs = 500;

export interface InspectServerOptions extends Omit<ApiParts, 'keys' | 'clock'> {
  /** On 127.0.0.1; 0: any free one. */
  readonly port: number;
  readonly clock: Pick<Clock, 'now' | 'steady' | 'sleep'>;
  /** Gives the files of the page. Default: as the build wrote them. */
  readonly pageFile?: ReadPageFile | undefined;
  /** Told that the address was opened, and of the next one. */
  readonly onNextUrl?: ((url: string) => void) | undefined;
  /** Told that keys were tried which never were any: the first one, the tenth, the hundredth. */
  readonly onWrongKey?: ((count: number) => void) | undefined;
  /** Told of what failed because of a bug. */
  readonly onError: (error: unknown) => void;
}

export interface InspectServer {
  readonly port: number;
  /** The address of the page with the key that works now, which is for the operator alone. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the page over an inbox to this machine. Throws a `ConfigError` or `UsageError` when the port cannot be had. */
export async function openInspectServer(options: InspectServerOptions): Promise<InspectServer> {
  const { clock, onError } = options;
  let hosts: readonly string[] = [];
  const url = (): string => `http://${hosts[0] ?? ''}/#${keyParameter}=${keys.key.reveal()}`;
  const keys = new InspectKeys({
    clock,
    onNext: () => options.onNextUrl?.(url()),
    onWrong: (count) => options.onWrongKey?.(count),
  });
  const page = pageFiles(options.pageFile);
  const parts = { ...options, keys };
  const handle = async (request: Delivery): Promise<Answer> => {
    const foreign = foreignHost(request, hosts);
    if (foreign !== undefined) return problemAnswer(foreign);
    if (request.path.startsWith('/api/')) return apiAnswer(parts, request);
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      const problem = 'The page takes GET only.';
      return problemAnswer({ status: 405, code: 'bad-request', problem }, { allow: 'GET, HEAD' });
    }
    const problem = 'There is nothing at this path.';
    return page(request) ?? problemAnswer({ status: 404, code: 'not-found', problem });
  };
  const server = await openHttpsServer({
    host: '127.0.0.1',
    port: options.port,
    addressOption: 'port',
    tls: undefined,
    limits,
    clock,
    headers: securityHeaders,
    rejectionAnswer,
    handle,
    onError,
  });
  hosts = ownHosts(server.port);
  return {
    port: server.port,
    get url() {
      return url();
    },
    async close() {
      keys.close();
      await server.close(lastAnswersMs);
    },
  };
}

/** The files that the page consists of, by path: nothing else is ever read. */
const files = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/app.js': { name: 'app.js', type: 'text/javascript; charset=utf-8' },
  '/style.css': { name: 'style.css', type: 'text/css; charset=utf-8' },
  '/icon.svg': { name: 'icon.svg', type: 'image/svg+xml' },
} as const;

/** Gives the bytes of one of them. */
type ReadPageFile = (name: PageFileName) => Uint8Array;

interface Packed {
  readonly whole: Uint8Array;
  readonly compressed: Uint8Array;
}

/** Answers requests for the page's own files, each read once; gives undefined for any other path. */
function pageFiles(
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

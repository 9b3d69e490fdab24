import { openHttpsServer } from '../http/server/https-server.ts';
import type { Clock } from '../time/clock.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import { InspectKeys } from './inspect-keys.ts';
import { foreignHost, ownHosts, securityHeaders } from './request-guard.ts';
import { apiAnswer, type ApiParts } from './api.ts';
import { nothingThere, problemAnswer, rejectionAnswer } from './request-problem.ts';
import { keyParameter } from './wire.ts';
import { gzipSync } from 'node:zlib';
import { pageFile, type PageFileName } from '../files/embedded/asset.ts';
import { acceptsGzip, type Answer } from '../http/server/send-answer.ts';

/** The page serves one person, in a few tabs. */
const limits = {
  connections: 512,
  bodyBytes: 16 * 1024,
  bufferedBytes: 1024 * 1024,
} as const;

/** When the server closes, running requests get this long, in milliseconds. */
const lastAnswersMs = 500;

export interface InspectServerOptions extends Omit<ApiParts, 'keys' | 'clock'> {
  /** On 127.0.0.1; 0 means any free port. */
  readonly port: number;
  readonly clock: Pick<Clock, 'now' | 'steady' | 'sleep'>;
  readonly pageFile?: ReadPageFile | undefined;
  readonly onNextUrl?: ((url: string) => void) | undefined;
  readonly onWrongKey?: ((count: number) => void) | undefined;
  readonly onError: (error: unknown) => void;
}

export interface InspectServer {
  readonly port: number;
  /** Holds the key that works now, which is for the operator alone. */
  readonly url: string;
  close(): Promise<void>;
}

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
    return page(request) ?? problemAnswer(nothingThere);
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
    close: () => server.close(lastAnswersMs),
  };
}

const files: readonly (readonly [path: string, name: PageFileName, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/style.css', 'style.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
];

type ReadPageFile = (name: PageFileName) => Uint8Array;

function pageFiles(
  read: ReadPageFile = pageFile,
): (request: Pick<Delivery, 'path' | 'rawHeaders'>) => Answer | undefined {
  const contents = new Map(
    files.map(([path, name, type]) => {
      const plain = read(name);
      return [path, { type, plain, gzip: gzipSync(plain, { level: 9 }) }];
    }),
  );
  return (request) => {
    const file = contents.get(request.path.replace(/\?.*$/s, ''));
    if (file === undefined) return undefined;
    const isPacked = acceptsGzip(headerValues(request, 'accept-encoding').join());
    const headers = { vary: 'accept-encoding', ...(isPacked && { 'content-encoding': 'gzip' }) };
    return { status: 200, text: { type: file.type, content: isPacked ? file.gzip : file.plain }, headers };
  };
}

import { openHttpsServer } from '../http/server/https-server.ts';
import type { Clock } from '../time/clock.ts';
import { type Delivery, headerValues } from '../webhook/delivery.ts';
import { InspectKeys } from './inspect-keys.ts';
import { apiAnswer, type ApiParts } from './api.ts';
import { nothingThere, RequestProblem, requestProblem, wrongMethod } from './request-problem.ts';
import { keyParameter } from './wire.ts';
import { pageFile, type PageFileName } from '../files/embedded/asset.ts';
import type { Answer } from '../http/server/server-options.ts';

/** Enough for one person with a few tabs. */
const limits = { connections: 512, bodyBytes: 16 * 1024, bufferedBytes: 1024 * 1024 } as const;

const graceMs = 500;

export interface InspectServerOptions extends Omit<ApiParts, 'keys' | 'clock'> {
  /** On 127.0.0.1; 0 means any free port. */
  readonly port: number;
  readonly clock: Pick<Clock, 'now' | 'steady' | 'sleep'>;
  readonly pageFile?: (name: PageFileName) => Uint8Array;
  readonly onNextUrl: (url: string) => void;
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
  const keys = new InspectKeys({ clock, onNextKey: () => options.onNextUrl(url()) });
  const parts = { ...options, keys };
  const contents = new Map(
    pageFiles.map(([path, name, type]) => [path, { type, content: (options.pageFile ?? pageFile)(name) }]),
  );
  const handle = async (request: Delivery): Promise<Answer> => {
    try {
      checkHost(request, hosts);
      if (request.path.startsWith('/api/')) return await apiAnswer(parts, request);
      if (request.method !== 'GET' && request.method !== 'HEAD') return wrongMethod('GET, HEAD');
      const text = contents.get(request.path.replace(/\?.*$/s, ''));
      if (text === undefined) throw nothingThere();
      return { status: 200, text };
    } catch (error) {
      return requestProblem(error).answer;
    }
  };
  const server = await openHttpsServer({
    host: '127.0.0.1',
    port: options.port,
    addressOption: 'port',
    tls: undefined,
    limits,
    clock,
    headers: securityHeaders,
    rejectionAnswer: ({ status, detail }) =>
      new RequestProblem(status, status === 503 ? 'busy' : 'bad-request', detail).answer,
    handle,
    onError,
  });
  // Only these: a page under another name that resolves to this address (DNS rebinding) sends that name as its host.
  hosts = ['127.0.0.1', 'localhost'].map((name) => new URL(`http://${name}:${server.port}`).host);
  return {
    port: server.port,
    get url() {
      return url();
    },
    close: () => server.close(graceMs),
  };
}

const pageFiles: readonly (readonly [path: string, name: PageFileName, type: string])[] = [
  ['/', 'index.html', 'text/html; charset=utf-8'],
  ['/app.js', 'app.js', 'text/javascript; charset=utf-8'],
  ['/app.css', 'app.css', 'text/css; charset=utf-8'],
  ['/icon.svg', 'icon.svg', 'image/svg+xml'],
];

/** Every request must pass this check. */
function checkHost(request: Delivery, hosts: readonly string[]): void {
  const [host, ...furtherHosts] = headerValues(request, 'host');
  const isOwn = host !== undefined && furtherHosts.length === 0 && hosts.includes(host.toLowerCase());
  // An absolute target names a host of its own (RFC 9112, section 3.2.2).
  if (isOwn && request.path.startsWith('/')) return;
  throw new RequestProblem(
    403,
    'forbidden',
    'This server is not the one that the request names.',
    `The address is http://${hosts[0] ?? ''}; through a tunnel, both ends need the same port.`,
  );
}

/** The page loads only files of this server, sends nothing elsewhere, and turns no text into markup or script. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Every answer has these headers. Received data is for the operator alone, and no cache stores it on the disk. */
const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

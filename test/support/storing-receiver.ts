import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { type OpenServer, openServer } from './open-server.ts';

/** What a receiver does with one request. */
export type Handling = 'store' | 'store and reset' | 'store and 500' | 'reset' | 'never answer' | number;

export interface StoringReceiver extends OpenServer {
  /** Every request, in order of arrival. */
  readonly requests: { readonly id: string; readonly body: Buffer; readonly token: string | undefined }[];
}

interface StoringOptions {
  /** Stores a lead once, however often it comes. */
  readonly store: (id: string, body: Buffer) => Promise<unknown>;
  /** What becomes of a request; from 0. Default: it is stored, and answered 200. */
  readonly handle?: (nth: number) => Handling | Promise<Handling>;
}

/** A plain HTTP receiver on a free port that stores what comes, and fails as a test says. */
export async function startStoringReceiver({
  store,
  handle = () => 'store',
}: StoringOptions): Promise<StoringReceiver> {
  const requests: StoringReceiver['requests'] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const { id } = JSON.parse(body.toString('utf8')) as { id: string };
      const token = request.headers['x-webhook-token'];
      const nth = requests.push({ id, body, token: typeof token === 'string' ? token : undefined }) - 1;
      const handling = await handle(nth);
      if (typeof handling === 'string' && handling.startsWith('store')) await store(id, body);
      if (handling === 'never answer') return;
      if (handling === 'reset' || handling === 'store and reset') request.socket.destroy();
      else
        response.writeHead(handling === 'store' ? 200 : handling === 'store and 500' ? 500 : handling).end();
    })().catch(() => request.socket.destroy());
  });
  const opened = await openServer(server);
  return { ...opened, url: `${opened.url}/hook`, requests };
}

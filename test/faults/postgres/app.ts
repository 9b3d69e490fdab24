import { createServer } from 'node:http';
import { openServer } from '../../support/open-server.ts';

/** The application behind receivers. */
export interface App {
  readonly url: string;
  /** How often it got each lead. */
  readonly got: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

export async function startApp(): Promise<App> {
  const got = new Map<string, number>();
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      const { id } = JSON.parse(text) as { id: string };
      got.set(id, (got.get(id) ?? 0) + 1);
      response.end();
    });
  });
  const opened = await openServer(server);
  return {
    url: `${opened.url}/`,
    got,
    stop: opened.close,
  };
}

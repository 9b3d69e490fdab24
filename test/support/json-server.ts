import { jsonServerAnswer, type JsonServerLead, type JsonServerRelease } from './json-server-answer.ts';
import { scripted, sendJson } from './service.ts';

export type { JsonServerRelease };

/** Serves leads at `/leads`, as json-server does; test/oracles runs the same tests with the real one. */
export async function startJsonServer(
  release: JsonServerRelease,
  leads: readonly JsonServerLead[],
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  return scripted((request, response) => {
    const url = new URL(request.url ?? '/', `http://${request.headers.host ?? ''}`);
    const { status, headers, body } = jsonServerAnswer(release, leads, url);
    if (status === 200) sendJson(response, body, headers);
    else response.writeHead(status, headers).end();
  });
}

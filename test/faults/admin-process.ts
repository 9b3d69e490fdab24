import { Agent, request } from 'node:http';
import { type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { until } from '../support/until.ts';

const token = 'token-of-the-tests';

interface Told {
  readonly status: number;
  readonly text: string;
}

export interface AdminProcess extends ListenProcess {
  /** What `--admin` answers at a path; status 0 where nobody answers. */
  admin(path: string): Promise<Told>;
  /** Delivers one lead over connections that are kept open; rejects where no answer comes. */
  deliver(body: object): Promise<Told>;
}

function send(url: string, options: object, body?: string): Promise<Told> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** `leads listen --http --admin` as a process of its own, ready when it resolves. */
export async function adminProcess(
  argv: readonly string[],
  options: Parameters<typeof listenProcess>[1] = {},
): Promise<AdminProcess> {
  const port = argv.includes('--port') ? [] : ['--port', '0'];
  const listener = await listenProcess(
    ['--http', '--token', token, ...port, '--admin', '0', '--format', 'leads', ...argv],
    options,
  );
  const address = (): string | undefined => /^admin on (\S+):/m.exec(listener.stderr())?.[1];
  await until(() => address() !== undefined, 'the admin socket');
  const agent = new Agent({ keepAlive: true });
  const headers = { 'content-type': 'application/json', 'x-webhook-token': token };
  return {
    ...listener,
    admin: (path) =>
      send(`${address() ?? ''}${path}`, { agent: false }).catch(() => ({ status: 0, text: '' })),
    deliver: (body) => send(listener.url, { method: 'POST', agent, headers }, JSON.stringify(body)),
    async end(signal) {
      const how = await listener.end(signal);
      agent.destroy();
      return how;
    },
  };
}

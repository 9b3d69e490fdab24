import { request } from 'undici';
import { type ListenProcess, listenProcess } from '../support/listen-process.ts';
import { type Answered, senderTo } from '../support/sender.ts';
import { until } from '../support/until.ts';

const token = 'token-of-the-tests';

export interface AdminProcess extends ListenProcess {
  /** What `--admin` answers at a path; status 0 where nobody answers. */
  admin(path: string): Promise<Answered>;
  /** Delivers one lead over connections that are kept open; rejects where no answer comes. */
  deliver(body: object): Promise<Answered>;
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
  const sender = senderTo(listener.url, { token });
  return {
    ...listener,
    admin: (path) =>
      request(`${address() ?? ''}${path}`, { reset: true }).then(
        async ({ statusCode, body }) => ({ status: statusCode, text: await body.text() }),
        () => ({ status: 0, text: '' }),
      ),
    deliver: (body) => sender.deliver(body),
    async end(signal) {
      const how = await listener.end(signal);
      sender.close();
      return how;
    },
  };
}

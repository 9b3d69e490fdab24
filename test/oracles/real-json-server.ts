import { spawn } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { request } from 'undici';
import { expect } from 'vitest';
import { freePort } from '../support/free-port.ts';
import {
  jsonServerAnswer,
  type JsonServerLead,
  type JsonServerRelease,
} from '../support/json-server-answer.ts';
import { scripted } from '../support/service.ts';
import { until } from '../support/until.ts';

const require = createRequire(import.meta.url);
const programs: Readonly<Record<JsonServerRelease, string>> = {
  '0.17': join(dirname(require.resolve('json-server/package.json')), 'lib/cli/bin.js'),
  '1 beta': join(dirname(require.resolve('json-server-1/package.json')), 'lib/bin.js'),
};

const pagingIn = ({ link, 'x-total-count': total }: Readonly<Record<string, unknown>>) => ({ link, total });

const shown = (answer: unknown): string => JSON.stringify(answer).slice(0, 300);

/**
 * Serves leads at `/leads` by the real json-server, through a proxy that compares each of its answers with the stand-in's:
 * closing it fails where one differs.
 */
export async function startJsonServer(release: JsonServerRelease, leads: readonly JsonServerLead[]) {
  const directory = mkdtempSync(join(tmpdir(), 'leads-json-server-'));
  const file = join(directory, 'db.json');
  writeFileSync(file, JSON.stringify({ leads }));
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [programs[release], file, '--port', String(port), '--host', '127.0.0.1'],
    { cwd: directory, stdio: 'ignore' },
  );
  const real = `http://127.0.0.1:${port}`;
  const isUp = async (): Promise<boolean> => {
    const answer = await request(`${real}/leads/${leads[0]?.id ?? ''}`).catch(() => undefined);
    await answer?.body.dump();
    return answer?.statusCode === 200;
  };
  await until(isUp, 'json-server to start');

  const differing: [path: string, theirs: string, ours: string][] = [];
  const proxy = await scripted((incoming, response) => {
    void (async () => {
      const host = incoming.headers.host ?? '';
      const path = incoming.url ?? '/';
      const { statusCode, headers, body } = await request(real + path, { headers: { host } });
      const text = await body.text();
      const standIn = jsonServerAnswer(release, leads, new URL(path, `http://${host}`));
      const theirs = [statusCode, pagingIn(headers), statusCode === 200 ? JSON.parse(text) : {}];
      const ours = [standIn.status, pagingIn(standIn.headers), standIn.body];
      if (!isDeepStrictEqual(theirs, ours)) differing.push([path, shown(theirs), shown(ours)]);
      response.writeHead(statusCode, headers).end(text);
    })();
  });
  const close = async (): Promise<void> => {
    await proxy.close();
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    expect(proxy.requests.length).toBeGreaterThan(0);
    expect(differing).toEqual([]);
  };
  return { url: proxy.url, close };
}

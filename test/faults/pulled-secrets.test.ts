import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startProgram } from '../support/listen-process.ts';
import { printFigure } from '../support/faults.ts';
import { faultyService } from '../support/faulty-service.ts';
import { textsIn } from '../support/files-in.ts';
import { freshHome, leads } from '../support/run.ts';
import { scripted, sendJson } from '../support/service.ts';

const key = 'key_7c1e9b40d2f84a63';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Services that fail in every way, some of them telling the key back. */
const failures: Readonly<Record<string, Handle>> = {
  fine: (_, response) => sendJson(response, '{"data":[{"id":"1","category":"a"}]}'),
  refused: (request, response) =>
    void response
      .writeHead(401)
      .end(`{"error":"key","message":"bad ${request.headers.authorization ?? ''}"}`),
  down: (request, response) =>
    void response
      .writeHead(500, { 'x-request-id': request.headers.authorization ?? '' })
      .end(request.headers.authorization),
  limited: (_, response) => void response.writeHead(429, { 'retry-after': '99999' }).end(key),
  'not JSON': (request, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<p>${request.headers.authorization ?? ''}`),
  'broken JSON': (_, response) => sendJson(response, `{"data":[{"id":${key}}]}`),
  'cut off': (request) => request.socket.destroy(),
  redirect: (_, response) =>
    void response.writeHead(302, { location: `http://127.0.0.1:9/?key=${key}` }).end(),
  'other request': (_, response) => void response.writeHead(400).end(`{"error":"bad","message":"${key}"}`),
};

const commands = (file: string): readonly string[][] => [
  ['list'],
  ['list', '--json'],
  ['show', '1'],
  ['export'],
  ['export', '-o', file],
  ['export', '--bookmark', `${file}.bookmark`],
];

it('promise 12, pulled: the key shows up nowhere', async () => {
  let [runs, leaks] = [0, 0];
  for (const [name, handle] of Object.entries(failures)) {
    const service = await scripted(handle);
    const home = freshHome();
    for (const argv of commands(join(home, 'out'))) {
      for (const flags of [
        [],
        ['--verbose'],
        ['--verbose', '--format', argv[0] === 'show' ? 'json' : 'ndjson'],
      ]) {
        const env = { LEADS_API_KEY: key, LEADS_BASE_URL: service.url };
        const { stdout, stderr } = await leads([...argv, ...flags], { env, home });
        runs += 1;
        const told = `${stdout}${stderr}${textsIn(home)}${service.requests.join('\n')}`;
        if (!told.includes(key)) continue;
        leaks += 1;
        expect.soft({ name, argv, flags, stdout, stderr }).toBe('without the key');
      }
    }
    await service.close();
  }
  printFigure(12, `${runs} pulls × failures × --verbose: keys in output, files or URLs ${leaks}`);
  expect(leaks).toBe(0);
});

/** What `api` is answered with a status of success, it prints as it came. */
const failuresOfApi = Object.entries(failures).filter(([name]) => !/JSON/.test(name));

it('promise 12, pulled: a key that api-key-command prints shows up nowhere', async () => {
  let [runs, leaks] = [0, 0];
  for (const [name, handle] of failuresOfApi) {
    const service = await scripted(handle);
    const home = freshHome();
    await leads(['config', 'set', 'base-url', service.url], { home });
    // The command itself may be shown, so that the key is not a part of it.
    const command = ['sh', '-c', 'printf "key_%s%s" 7c1e9b40 d2f84a63'];
    await leads(['config', 'set', 'api-key-command', JSON.stringify(command)], { home });
    for (const argv of [
      ['list'],
      ['doctor'],
      ['config', 'list'],
      ['logout'],
      ['api', '/api/leads'],
      ['api', '/api/leads', '--include'],
      ['api', '/api/leads', '--paginate'],
      ['api', '/api/leads', '--method', 'POST'],
    ]) {
      const { stdout, stderr } = await leads([...argv, '--verbose', '--retries', '0'], { home });
      runs += 1;
      const shown = `${stdout}${stderr}${textsIn(home)}${service.requests.join('\n')}`;
      if (!shown.includes(key)) continue;
      leaks += 1;
      expect.soft({ name, argv, stdout, stderr }).toBe('without the key');
    }
    await service.close();
  }
  printFigure(12, `${runs} runs with api-key-command × failures: keys in output, files or URLs ${leaks}`);
  expect(leaks).toBe(0);
});

it('promise 12, pulled: the key is not among the arguments that ps shows', async () => {
  const service = await faultyService({ leads: 1000, pageSize: 10, style: 'cursor', seed: 1, latencyMs: 20 });
  const program = startProgram(['export'], freshHome(), { LEADS_API_KEY: key, LEADS_BASE_URL: service.url });
  await expect.poll(() => service.requests(), { timeout: 10_000 }).toBeGreaterThan(2);
  const shown = readFileSync(`/proc/${program.child.pid ?? 0}/cmdline`, 'latin1');
  program.child.kill('SIGTERM');
  await program.done;
  await service.close();
  expect(shown).toContain('export');
  expect(shown).not.toContain(key);
});

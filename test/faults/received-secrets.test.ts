import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import {
  authorityOf,
  binary,
  environment,
  type ListenProcess,
  listenProcess,
} from '../support/listen-process.ts';
import { textsIn } from '../support/files-in.ts';
import { freshHome } from '../support/run.ts';

const token = 'tok_8f3a91c7e25b4d60';

function deliver(listener: ListenProcess, headers: Record<string, string>, path = '/', body = '{"id":"a"}') {
  return new Promise<string>((resolve, reject) => {
    const options = {
      method: 'POST',
      ca: readFileSync(authorityOf(listener.home)),
      agent: false,
      path,
      headers: { 'content-type': 'application/json', ...headers },
    } as const;
    const sent = request(listener.url, options, (response) => {
      let text = JSON.stringify(response.headers);
      response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
      response.on('end', () => resolve(`${response.statusCode ?? 0} ${text}`));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const forms: readonly [name: string, (file: string) => { argv: string[]; env: Record<string, string> }][] = [
  ['a file', (file) => ({ argv: ['--token-file', file], env: {} })],
  ['the environment', () => ({ argv: [], env: { LEADS_WEBHOOK_TOKEN: token } })],
];

it.each(forms)('promise 12, received: a token from %s shows up nowhere', async (name, make) => {
  const home = freshHome();
  const file = join(freshHome(), 'token');
  writeFileSync(file, `${token}\n`);
  const { argv, env } = make(file);
  const seen: string[] = [];
  for (const format of ['pretty', 'events', 'leads']) {
    const listener = await listenProcess(
      [...argv, '--port', '0', '--format', format, '--explain', '--verbose', '--exec', 'env'],
      { home, env },
    );
    const pid = String(listener.child.pid);
    seen.push(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
    seen.push(await deliver(listener, { 'x-webhook-token': token }));
    seen.push(await deliver(listener, { 'x-webhook-token': `${token}x` }));
    seen.push(await deliver(listener, { 'x-webhook-token': token.toUpperCase() }));
    seen.push(
      await deliver(listener, { authorization: `Bearer ${token}`, 'x-other': token }, `/?token=${token}`),
    );
    seen.push(await deliver(listener, { 'x-webhook-token': token }, `/?t=${token}`, '{"id":'));
    seen.push(await deliver(listener, { 'x-webhook-token': token, cookie: `a=${token}` }, '/', '{"id":"b"}'));
    await listener.end('SIGINT');
    seen.push(listener.stdout(), listener.stderr());
  }
  for (const words of [['list', '--json'], ['list'], ['show', 'a', '--json'], ['show', 'b'], ['export']]) {
    const options = { env: { PATH: process.env['PATH'], ...environment(home), ...env } };
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      [binary, 'inbox', ...words],
      options,
    );
    seen.push(stdout, stderr);
  }
  seen.push(textsIn(home));
  const text = seen.join('\n');
  const found = text.toLowerCase().split(token.toLowerCase()).length - 1;
  console.log(`promise 12, received (${name}): ${text.length} characters searched, found ${found} times`);
  expect(text).toContain('[redacted]');
  expect(found).toBe(0);
});

it('promise 12, received: the address of a target shows up nowhere when a path leads out of it', async () => {
  const home = freshHome();
  const secret = 'abcdefghijklm1234567890XYZ';
  const target = { forward: `http://127.0.0.1:9/services/T0/B0/${secret}`, keepPath: true };
  const seen: string[] = [];
  for (const format of ['pretty', 'events', 'leads']) {
    const listener = await listenProcess(
      ['--target', JSON.stringify(target), '--port', '0', '--format', format, '--verbose'],
      { home, env: { LEADS_WEBHOOK_TOKEN: token } },
    );
    seen.push(await deliver(listener, { 'x-webhook-token': token }, '/../../../../x', `{"id":"${format}"}`));
    await listener.end('SIGINT');
    seen.push(listener.stdout(), listener.stderr());
  }
  const { stdout } = await promisify(execFile)(process.execPath, [binary, 'inbox', 'show', 'pretty'], {
    env: { PATH: process.env['PATH'], ...environment(home) },
  });
  const text = [...seen, stdout, textsIn(home)].join('\n');
  expect(text).toContain("its path leads out of the target's URL");
  expect(text).not.toContain(secret);
});

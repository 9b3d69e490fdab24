// Run as a process of its own: what does loading and using the package's entries change in a process?
'use strict';
const { EventEmitter } = require('node:events');
const { createServer } = require('node:http');
const { syncBuiltinESMExports } = require('node:module');
const v8 = require('node:v8');

// From node 22 on, node puts the dispatcher of its own fetch into the global object when fetch is first looked at.
void globalThis.Response;

const flags = [];
v8.setFlagsFromString = (flag) => flags.push(flag);
syncBuiltinESMExports();

const read = new Set();
const env = process.env;
process.env = new Proxy(env, {
  get: (target, name) => {
    read.add(String(name));
    return target[name];
  },
});

const names = (object) => Reflect.ownKeys(object).map(String).sort();
const state = () => ({
  listeners: Object.fromEntries(
    process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  ),
  env: { ...env },
  globals: names(globalThis),
  prototypes: [Array, Object, Promise, Uint8Array, Buffer, EventEmitter, Error].map(({ prototype }) =>
    names(prototype),
  ),
  process: {
    cwd: process.cwd(),
    title: process.title,
    exitCode: process.exitCode,
    execArgv: process.execArgv,
  },
  limits: [EventEmitter.defaultMaxListeners, Error.stackTraceLimit],
  flags: [...flags],
});

async function use() {
  const [{ sign, verify }, { createClient }, { startSandbox }] = await Promise.all(
    ['webhook', 'client', 'testing'].map((name) => import(`leads-cli/${name}`)),
  );
  const scheme = { scheme: 'standard-webhooks', secrets: 'whsec_dGVzdC1zZWNyZXQtMDEyMzQ1Njc4OQ==' };
  const verified = await verify({ url: '/', ...(await sign({ id: '1' }, scheme)) }, scheme);
  if (!verified.ok) throw new Error(verified.hint);
  let taken = 0;
  const server = createServer(async (request, response) => {
    const checked = await verify(request, scheme);
    if (checked.ok) taken += checked.leads.length;
    response.writeHead(checked.ok ? 200 : checked.status).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${server.address().port}/`;
  const sandbox = await startSandbox({ leads: 30, maxLimit: 10, webhook: { url, ...scheme } });
  await sandbox.settled();
  let pulled = 0;
  for await (const lead of createClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey }).leads())
    pulled += lead.id ? 1 : 0;
  await sandbox.close();
  await new Promise((resolve) => server.close(resolve));
  if (taken !== 30 || pulled !== 30) throw new Error(`${taken} were taken, and ${pulled} pulled`);
}

async function main() {
  const states = [state()];
  for (const name of ['webhook', 'client', 'testing']) {
    require(`leads-cli/${name}`);
    await import(`leads-cli/${name}`);
    states.push(state());
  }
  await use();
  states.push(state());
  process.stdout.write(JSON.stringify({ states, read: [...read] }));
}

void main();

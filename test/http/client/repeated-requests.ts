import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { createAgent } from '../../../src/http/client/agent.ts';

/** A program: asks a server many times over one connection, and says whether the flags of V8 are as before. */
const server = createServer((_, response) => response.end('[]')).listen(0, '127.0.0.1');
await once(server, 'listening');
const flagsBefore = cachedDataVersionTag();
const agent = createAgent({ env: {}, dataDir: undefined, timeoutMs: 5000, setV8Flag: setFlagsFromString });
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
for (let i = 0; i < 300; i += 1) await (await agent.request({ origin, path: '/', method: 'GET' })).discard();
process.stdout.write(cachedDataVersionTag() === flagsBefore ? 'same flags\n' : 'other flags\n');
await agent.destroy();
server.close();

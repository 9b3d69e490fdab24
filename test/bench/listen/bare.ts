// The yardstick: a node https server that reads a request and answers 200, and does nothing else.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const pem = readFileSync(process.argv[2] ?? '', 'utf8');
const body = '{"status":"accepted"}';

const server = createServer({ cert: pem, key: pem, minVersion: 'TLSv1.3' }, (request, response) => {
  request.resume();
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});

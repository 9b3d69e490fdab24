// Runs an example of a server: the file is its first argument. One that exports a Fetch handler is served as its runtime
// would serve it.
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const { default: app } = await import(pathToFileURL(process.argv[2]).href);
if (typeof app?.fetch === 'function') {
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = `http://${request.headers.host}${request.url}`;
    const { method, headers } = request;
    const answer = await app.fetch(new Request(url, { method, headers, body: Buffer.concat(chunks) }));
    response.writeHead(answer.status).end(Buffer.from(await answer.arrayBuffer()));
  }).listen(Number(process.env.PORT), '127.0.0.1');
}

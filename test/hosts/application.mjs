// What an application does with each entry. It is bundled, transformed and loaded as it is, by everything in matrix.mjs; as
// application.ts it is TypeScript.
import { createServer } from 'node:http';
import { createClient, UsageError } from 'leads-cli/client';
import { startSandbox } from 'leads-cli/testing';
import { sign, verify } from 'leads-cli/webhook';

export async function application() {
  const choice = Object.freeze({ scheme: 'github', secrets: 'octo' });
  const signed = { url: '/', ...(await sign({ id: 'a' }, choice)) };
  const genuine = await verify(signed, choice);
  const forged = await verify({ ...signed, body: '{"id":"b"}' }, choice);
  const server = createServer(async (request, response) => {
    const checked = await verify(request, choice);
    response.writeHead(checked.ok ? 200 : checked.status).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', () => resolve(undefined)));
  const url = `http://127.0.0.1:${Object(server.address()).port}/`;
  const sandbox = await startSandbox({ leads: 20, maxLimit: 10, webhook: { url, ...choice } });
  await sandbox.settled();
  const [delivery] = sandbox.deliveries();
  let pulled = 0;
  const client = createClient({ baseUrl: sandbox.url, apiKey: sandbox.apiKey });
  for await (const { id } of client.leads()) if (id !== undefined) pulled += 1;
  const wrong = await Promise.resolve()
    .then(() => client.leads({ where: '=' }))
    .catch((error) => error);
  await sandbox.close();
  server.close();
  return JSON.stringify([
    genuine.ok,
    forged.ok,
    delivery === undefined ? undefined : delivery.status,
    pulled,
    wrong instanceof UsageError,
  ]);
}

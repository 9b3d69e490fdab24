// A service that delivers leads and tries each again until it is answered 200, as a process of its own.
// Arguments: URL, CA file, token, number of leads, leads in flight. A line on stdout for each acknowledgement: its id and verdict.
import { Buffer } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

const [url, caFile, token, leads, inFlight] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(inFlight), ca: readFileSync(caFile) });

function deliver(id) {
  const body = JSON.stringify({ id, category: 'solar', contact: { name: `Person ${id}` }, metadata: {} });
  return new Promise((resolve) => {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { 'content-type': 'application/json', 'x-webhook-token': token },
    });
    sent.on('error', () => resolve(undefined));
    sent.on('response', (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', () => resolve(undefined));
      response.on('end', () => {
        if (response.statusCode !== 200) resolve(undefined);
        else resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')).status);
      });
      // A connection that breaks off ends a response without an `end`.
      response.on('close', () => resolve(undefined));
    });
    sent.end(body);
  });
}

let next = 0;
async function worker() {
  while (next < Number(leads)) {
    const id = `lead-${next}`;
    next += 1;
    for (;;) {
      const status = await deliver(id);
      if (status !== undefined) {
        process.stdout.write(`${id} ${status}\n`);
        break;
      }
      await sleep(5 + Math.random() * 20);
    }
  }
}

await Promise.all(Array.from({ length: Number(inFlight) }, worker));
agent.destroy();

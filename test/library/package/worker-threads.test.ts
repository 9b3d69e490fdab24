import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { openInbox } from '../../../src/inbox/open-inbox.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { freshFile } from '../../inbox/support.ts';

const library = fileURLToPath(new URL('../../../dist/library/receiver.cjs', import.meta.url));

/** A receiver in a thread of its own, which takes one lead and never ends with it. */
const program = `
  const { workerData, parentPort } = require('node:worker_threads');
  const { createReceiver, fileInbox } = require(workerData.library);
  const receiver = createReceiver({
    scheme: 'token',
    secrets: 'token-of-a-test',
    inbox: fileInbox(workerData.path),
    onLead: (lead) => new Promise(() => parentPort.postMessage(lead.id)),
  });
  const headers = { 'content-type': 'application/json', 'x-webhook-token': 'token-of-a-test' };
  receiver.fetch(new Request('https://localhost/', { method: 'POST', headers, body: '{"id":"a"}' }));
`;

it('a receiver leaves a lead alone that another thread of its process hands over', async () => {
  const path = freshFile('inbox.db');
  const worker = new Worker(program, { eval: true, workerData: { library, path } });
  onTestFinished(async () => {
    await worker.terminate();
  });
  expect(await once(worker, 'message')).toEqual(['a']);
  const inbox = await openInbox({
    ...{ location: path, clock: systemClock, pid: process.pid, targets: ['call onLead'] },
  });
  onTestFinished(() => inbox.close());
  expect(await inbox.lease([{ leadId: 'a', seq: 1, target: 'call onLead' }])).toMatchObject([
    { state: 'busy' },
  ]);
});

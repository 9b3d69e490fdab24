import { get, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Context } from '../../context.ts';
import { DemoError } from './demo-error.ts';

/** Waits until the sandbox says that no delivery is pending. Throws a `DemoError` after 30 s. */
export async function waitUntilDelivered(baseUrl: string, { clock, signal }: Context): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const deliveries = JSON.parse(await requestControl('GET', `${baseUrl}/sandbox/deliveries`)) as {
      pending: number;
    };
    if (deliveries.pending === 0) return;
    await clock.sleep(50, signal);
  }
  throw new DemoError('some deliveries were still pending after 30 seconds');
}

/** Body of the sandbox's answer at one of its control endpoints. */
export function requestControl(method: 'GET' | 'POST', url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = method === 'GET' ? get(url) : request(url, { method }).end();
    sent.on('error', reject);
    sent.on('response', (answer) => void text(answer).then(resolve, reject));
  });
}

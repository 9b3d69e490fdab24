import { get, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Context } from '../../context.ts';
import { DemoError } from './demo-error.ts';

/** Waits until the sandbox says that no delivery is pending any more. */
export async function settled(baseUrl: string, { clock, signal }: Context): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const truth = JSON.parse(await call('GET', `${baseUrl}/sandbox/deliveries`)) as { pending: number };
    if (truth.pending === 0) return;
    await clock.sleep(50, signal);
  }
  throw new DemoError('the deliveries did not come to an end');
}

/** What the sandbox answers to its own control endpoints. */
export function call(method: 'GET' | 'POST', url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = method === 'GET' ? get(url) : request(url, { method }).end();
    asked.on('error', reject);
    asked.on('response', (answer) => void text(answer).then(resolve, reject));
  });
}

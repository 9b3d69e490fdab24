import { expect } from 'vitest';
import { systemClock } from '../../../src/time/clock.ts';
import { type Received, receiver, send } from './support.ts';

/** A receiver that answers 400 where `verify` throws is satisfied with what `send` signs, and not with another secret. */
export async function expectVerified(
  scheme: string,
  secret: string,
  verify: (request: Received) => unknown,
): Promise<void> {
  const { url } = await receiver((request, response) => {
    void (async () => {
      try {
        await verify(request);
        response.end('ok');
      } catch (error) {
        response.writeHead(400).end((error as Error).message);
      }
    })();
  });
  const options = { clock: systemClock };
  expect((await send(url, ['--scheme', scheme, '--secret', secret, '--sample', '3'], options)).exitCode).toBe(
    0,
  );
  const other = secret.startsWith('whsec_') ? 'whsec_b3RoZXIgc2VjcmV0IG9mIHRoZSB0ZXN0cw==' : 'another secret';
  expect((await send(url, ['--scheme', scheme, '--secret', other], options)).exitCode).toBe(7);
}

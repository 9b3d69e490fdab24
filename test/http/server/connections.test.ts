import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections, measureStall } from '../../../src/http/server/connections.ts';

/** A connection whose socket says that so much was written, and so much of it is not taken yet. */
function connectionWith(sizes: { written: number; waiting: number }) {
  const socket = new Socket();
  Object.defineProperty(socket, 'bytesWritten', { get: () => sizes.written });
  Object.defineProperty(socket, 'writableLength', { get: () => sizes.waiting });
  return new Connections().accept(socket, true);
}

test('an answer is stalled when the client has read nothing of it for the whole time', () => {
  const sizes = { written: 100, waiting: 100 };
  const connection = connectionWith(sizes);
  expect(measureStall(connection, 50_000)).toBe(0);
  expect(measureStall(connection, 51_000)).toBe(1_000);
  expect(measureStall(connection, 51_001)).toBe(1_001);
  sizes.waiting = 99;
  expect(measureStall(connection, 51_002)).toBe(0);
  sizes.waiting = 0;
  expect(measureStall(connection, 99_000)).toBe(0);
  Object.assign(sizes, { written: 150, waiting: 50 });
  expect(measureStall(connection, 99_500)).toBe(500);
});

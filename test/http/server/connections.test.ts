import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections, isStalled } from '../../../src/http/server/connections.ts';

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
  expect(isStalled(connection, 50_000, 1_000)).toBe(false);
  expect(isStalled(connection, 51_000, 1_000)).toBe(false);
  expect(isStalled(connection, 51_001, 1_000)).toBe(true);
  sizes.waiting = 99;
  expect(isStalled(connection, 51_002, 1_000)).toBe(false);
  sizes.waiting = 0;
  expect(isStalled(connection, 99_000, 1_000)).toBe(false);
  Object.assign(sizes, { written: 150, waiting: 50 });
  expect(isStalled(connection, 99_500, 1_000)).toBe(false);
});

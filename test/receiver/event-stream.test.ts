import { expect, it } from 'vitest';
import { EventStream } from '../../src/receiver/receiver-events.ts';

it('calls every listener with every event, in the order of subscription', () => {
  const stream = new EventStream<number>();
  const seen: string[] = [];
  stream.subscribe((event) => void seen.push(`first ${event}`));
  stream.subscribe((event) => void seen.push(`second ${event}`));
  expect([stream.emit(1), stream.emit(2)]).toEqual([undefined, undefined]);
  expect(seen).toEqual(['first 1', 'second 1', 'first 2', 'second 2']);
});

it('stops calling a listener whose subscription ended, and only that one', () => {
  const stream = new EventStream<number>();
  const seen: number[] = [];
  const listener = (event: number): void => void seen.push(event);
  const end = stream.subscribe(listener);
  stream.subscribe(listener);
  void stream.emit(1);
  end();
  void stream.emit(2);
  expect(seen).toEqual([1, 1, 2]);
});

it('makes the source wait for the slowest listener', async () => {
  const stream = new EventStream<number>();
  const catchUp: (() => void)[] = [];
  for (let i = 0; i < 2; i += 1) {
    stream.subscribe(() => new Promise<void>((resolve) => catchUp.push(resolve)));
  }
  stream.subscribe(() => undefined);
  let hasRoom = false;
  const room = stream.emit(1)?.then(() => (hasRoom = true));
  catchUp[0]?.();
  await new Promise(setImmediate);
  expect(hasRoom).toBe(false);
  catchUp[1]?.();
  await room;
  expect(hasRoom).toBe(true);
});

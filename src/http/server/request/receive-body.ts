import type { IncomingMessage } from 'node:http';
import { rejection, type Rejection } from '../../../webhook/rejection.ts';
import type { Connection } from '../connection/connections.ts';
import type { ServerState } from '../server-types.ts';
import type { BufferedBody } from './body-budget.ts';
import { type RequestHead, tooLarge } from './validate-headers.ts';

/** What becomes of a body: exactly one of these is called, once. */
interface BodyReceiver {
  /** The body counts in the budget until `release` is called. */
  readonly onComplete: (pieces: readonly Buffer[], release: () => void) => void;
  readonly onRejected: (rejected: Rejection, pieces: readonly Buffer[]) => void;
  /** The connection ended after so many bytes. */
  readonly onEnd: (size: number) => void;
}

/**
 * Receives the body of a request within the limits. `checkHead` is asked as soon as more of it than a few bytes would be
 * kept: whoever has no credential must not make us keep a whole body.
 */
export function receiveBody(
  { limits, bodies }: ServerState,
  connection: Connection,
  request: IncomingMessage,
  head: RequestHead,
  checkHead: (pieces: readonly Buffer[]) => Rejection | undefined,
  { onComplete, onRejected, onEnd }: BodyReceiver,
): void {
  const pieces: Buffer[] = [];
  let size = 0;
  let isOver = false;
  let isHeadChecked = false;
  const body: BufferedBody = { cost: 0, evict: () => reject(overBudget) };
  const finish = (): void => {
    isOver = true;
    connection.receiving -= 1;
  };
  const reject = (rejected: Rejection): void => {
    finish();
    bodies.release(body);
    onRejected(rejected, pieces.splice(0));
  };
  const rejectedHead = (): Rejection | undefined => {
    isHeadChecked = true;
    return checkHead(pieces);
  };
  connection.receiving += 1;
  // A client that expects 100 Continue has not sent its body yet.
  if (request.headers.expect !== undefined || (head.length ?? 0) > limits.uncheckedBytes) {
    const rejected = rejectedHead();
    if (rejected !== undefined) {
      reject(rejected);
      return;
    }
  }
  request.on('data', (piece: Buffer) => {
    if (isOver) return;
    size += piece.length;
    pieces.push(piece);
    const rejected =
      size > limits.bodyBytes
        ? tooLarge(limits.bodyBytes)
        : !isHeadChecked && size > limits.uncheckedBytes
          ? rejectedHead()
          : undefined;
    if (rejected === undefined) bodies.add(body, piece.length);
    else reject(rejected);
  });
  request.on('end', () => {
    if (isOver) return;
    finish();
    bodies.complete(body);
    onComplete(pieces, () => bodies.release(body));
  });
  request.on('close', () => {
    if (isOver) return;
    finish();
    bodies.release(body);
    onEnd(size);
  });
}

const overBudget = rejection(
  'overloaded',
  'all bodies that are being received take too much memory together',
);

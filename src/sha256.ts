import { hash } from 'node:crypto';

/** A third of what a digest costs that node makes a buffer for. */
export const sha256 = (data: string | Uint8Array): Buffer =>
  Buffer.from(hash('sha256', data, 'binary'), 'latin1');

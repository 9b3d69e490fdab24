import { isAnyArrayBuffer } from 'node:util/types';

/** The same memory as bytes; undefined for any other value. Also of another realm, such as that of a test runner. */
export function asBytes(value: unknown): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return isAnyArrayBuffer(value) ? new Uint8Array(value) : undefined;
}

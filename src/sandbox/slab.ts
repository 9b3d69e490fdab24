const slabBytes = 1 << 20;
/** No record is nearly as long: what is left of a slab below this is given up. */
const reserve = 8192;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * Short text as UTF-8, many to one large buffer: a hundred thousand buffers of their own cost more than what is in
 * them. For text of at most 2 Ki characters, that lives as long as the rest.
 */
export function packed(text: string): Uint8Array {
  if (slab.length - used < reserve) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  const start = used;
  used += slab.write(text, start);
  return slab.subarray(start, used);
}

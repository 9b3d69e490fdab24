/** One HTTP request that pushes a lead to a receiver, whole and unread. */
export interface Delivery {
  readonly method: string;
  /** Path and query exactly as they stood in the request line. */
  readonly path: string;
  /** Scheme, host, path and query, for schemes that sign the URL. */
  readonly url: string;
  /** As sent: order, case and repetitions kept. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
  /** Address of the peer. */
  readonly remote: string;
  /** Milliseconds since the epoch, when the body was complete. */
  readonly receivedAt: number;
}

/** Every value sent under this name, in order. Names compare without case (RFC 9110, section 5.1). */
export function headerValues(delivery: Pick<Delivery, 'rawHeaders'>, name: string): string[] {
  const wanted = name.toLowerCase();
  const values: string[] = [];
  for (const [key, value] of delivery.rawHeaders) {
    // Most names are told apart by their length, without lower-casing them.
    if (key.length === wanted.length && key.toLowerCase() === wanted) values.push(value);
  }
  return values;
}

/** The path without query; a request line may hold the whole URL instead (RFC 9112, section 3.2.2). */
export function pathOf({ path }: Pick<Delivery, 'path'>): string {
  const local = path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/?]*/i, '');
  const end = local.indexOf('?');
  return (end < 0 ? local : local.slice(0, end)) || '/';
}

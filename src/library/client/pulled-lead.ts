/** A lead as the service listed it. */
export interface PulledLead {
  /** The value of `id`, an integer by its digits; undefined for a record without one, which may come more than once. */
  readonly id: string | undefined;
  /** One compact JSON object in UTF-8, exactly the service's tokens: numbers keep all their digits here. */
  readonly bytes: Uint8Array;
  /** The same as `JSON.parse` reads it, when it is first asked for: integers beyond 2^53 lose digits. */
  readonly value: Readonly<Record<string, unknown>>;
}

const decoder = new TextDecoder();

/** A lead whose value is parsed when it is first asked for. */
export class LazyLead<Id extends string | undefined> implements PulledLead {
  readonly id: Id;
  readonly bytes: Uint8Array;
  #value: PulledLead['value'] | undefined;

  /** Copies the bytes: a lead may be kept, and the page that it stands in is not to be kept with it. */
  constructor(id: Id, bytes: Uint8Array) {
    this.id = id;
    this.bytes = new Uint8Array(bytes);
  }

  get value(): PulledLead['value'] {
    return (this.#value ??= JSON.parse(decoder.decode(this.bytes)) as PulledLead['value']);
  }
}

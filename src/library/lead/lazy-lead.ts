import { utf8 } from '../../json/bytes.ts';

/** A lead whose value is parsed when it is first asked for. */
export class LazyLead<Id extends string | undefined> {
  readonly id: Id;
  readonly bytes: Uint8Array;
  #value: Readonly<Record<string, unknown>> | undefined;

  /** Copies the bytes: a lead may be kept, and the body or page that it stands in is not to be kept with it. */
  constructor(id: Id, bytes: Uint8Array) {
    this.id = id;
    this.bytes = new Uint8Array(bytes);
  }

  get value(): Readonly<Record<string, unknown>> {
    return (this.#value ??= JSON.parse(utf8(this.bytes)) as Readonly<Record<string, unknown>>);
  }
}

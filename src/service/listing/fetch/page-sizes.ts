import type { DataError } from '../../../errors.ts';

/** Sent when the user named no size, the next one when the service rejects one; undefined: the service's default. */
const usualSizes: readonly (number | undefined)[] = [1000, 100, undefined];

/** How many leads to request a page. */
export class PageSizes {
  #candidates: readonly (number | undefined)[];
  readonly #isGuess: boolean;

  /**
   * `size` is what the user or the dialect says, `preferred` what would suit the caller; `isFree` is whether the service
   * has a parameter for it, and another size may be tried.
   */
  constructor(size: number | undefined, preferred: number | undefined, isFree: boolean, isGuess: boolean) {
    this.#isGuess = isGuess;
    const usual = usualSizes.filter((one) => one === undefined || preferred === undefined || one < preferred);
    if (size !== undefined || !isFree) this.#candidates = [size];
    else this.#candidates = preferred === undefined ? usual : [preferred, ...usual];
  }

  get current(): number | undefined {
    return this.#candidates[0];
  }

  /** Whether the first page was rejected for its size, and there is another one to try. The user's own size stands. */
  fallBack({ status }: DataError): boolean {
    if (this.#candidates.length === 1) return false;
    if (![400, 413, 414, 416, 422].includes(status ?? 0)) return false;
    this.#candidates = this.#candidates.slice(1);
    return true;
  }

  /** Whether the first page is to be read again without a size: it was empty with one, which may have been a filter. */
  dropGuess(): boolean {
    if (!this.#isGuess || this.current === undefined) return false;
    this.#candidates = [undefined];
    return true;
  }
}

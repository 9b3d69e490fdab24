import type { VerdictKind } from '../inbox/decide-verdict.ts';
import { badRequest } from './request-problem.ts';
import { verdicts } from './wire.ts';

/** The values of a URL's query, each checked. */
export class QueryValues {
  readonly #values: URLSearchParams;

  constructor(path: string) {
    const at = path.indexOf('?');
    this.#values = new URLSearchParams(at === -1 ? '' : path.slice(at + 1));
  }

  text(name: string): string | undefined {
    const [value, ...more] = this.#values.getAll(name);
    if (more.length > 0) throw badRequest(`The query names ${name} more than once.`);
    return value;
  }

  /** A whole number within the limits. */
  number(name: string, least = 0, most = Number.MAX_SAFE_INTEGER): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,16}$/.test(value) ? Number(value) : -1;
    if (number >= least && number <= most) return number;
    throw badRequest(`The query's ${name} must be a whole number from ${least} to ${most}.`);
  }

  required(name: string): number {
    const number = this.number(name);
    if (number === undefined) throw badRequest(`The query lacks ${name}.`);
    return number;
  }

  verdicts(): readonly VerdictKind[] | undefined {
    const given = this.#values.getAll('verdict');
    if (given.length === 0) return undefined;
    const known = verdicts.filter((verdict) => given.includes(verdict));
    if (given.every((value) => known.some((verdict) => verdict === value))) return known;
    throw badRequest(`The query's verdict must be one of ${verdicts.join(', ')}.`);
  }
}

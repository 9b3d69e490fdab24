import type { Lead, Way } from './row.ts';

export const wholeNumber = (text: string): number | undefined =>
  /^\d+$/.test(text) ? Number(text) : undefined;

export const byPage = (param = 'page', base = 1): Way => ({
  params: [param],
  base,
  start(query, _, size) {
    const number = wholeNumber(query.get(param) ?? String(base));
    return number === undefined || number < base ? undefined : (number - base) * size;
  },
});

export const byOffset = (param = 'offset'): Way => ({
  params: [param],
  base: 1,
  start: (query) => wholeNumber(query.get(param) ?? '0'),
});

export const cursorOf = (lead: Lead | undefined): string =>
  Buffer.from(`after:${lead?.id ?? ''}`).toString('base64url');

/** Behind the lead that the parameter names. */
const behind = (param: string, nameOf: (lead: Lead) => string): Way => ({
  params: [param],
  base: 1,
  start(query, list) {
    const name = query.get(param);
    if (name === null) return 0;
    const at = list.findIndex((lead) => nameOf(lead) === name);
    return at < 0 ? undefined : at + 1;
  },
});

export const behindId = (param: string): Way => behind(param, ({ id }) => id);
export const byCursor = (param = 'cursor'): Way => behind(param, cursorOf);

/** The leads up to a time, of a list with the youngest first. */
export const untilTime = (param: string, isInclusive: boolean): Way => ({
  params: [param],
  base: 1,
  start(query, list) {
    const until = Date.parse(query.get(param) ?? '9999-01-01');
    if (Number.isNaN(until)) return undefined;
    const at = list.findIndex(({ createdAt }) => {
      const created = Date.parse(createdAt);
      return isInclusive ? created <= until : created < until;
    });
    return at < 0 ? list.length : at;
  },
});

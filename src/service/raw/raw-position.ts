import { afterOf, type Position } from '../pagination/position.ts';
import { numberIn, numberOf, withNumber } from '../pagination/position-number.ts';
import { limitParams, offsetParams, pageParams, type RequestParams } from '../pagination/request-params.ts';

const positionParams = [...pageParams, ...offsetParams];

/** Where a list begins that is read as its address was typed: an offset in it is where the counting starts. */
export function startOf({ url }: RequestParams): Position {
  const found = numberIn(url);
  return found?.number.kind === 'offset'
    ? { style: 'offset', param: found.param, offset: found.number.value }
    : { style: 'start' };
}

/** The same place without the record in front of it, which `listLeads` reads twice to see whether the list has moved. */
export function withoutOverlap(position: Position): Position {
  const number = numberOf(position);
  if (number?.kind !== 'offset' || afterOf(position) === undefined) return position;
  return withNumber(position, number.value + 1, undefined);
}

/** Whether an address may ask for some of the records only, while a total of the answer counts all of them. */
export function asksForPart({ url, limit }: RequestParams): boolean {
  const { kind, value } = numberIn(url)?.number ?? { kind: 'offset', value: 0 };
  const names = [...url.searchParams.keys()].filter((name) => name !== limit && !limitParams.includes(name));
  return names.some((name) => !positionParams.includes(name)) || value > (kind === 'page' ? 1 : 0);
}

import { type Answer, failure, json, jsonBytes } from '../../http/server/answer.ts';
import type { SandboxState } from '../state.ts';

/** Every attempt of every delivery, oldest first; `?lead=ID` for one lead's. */
export function deliveriesTruth(state: SandboxState, url: URL): Answer {
  const { deliveries } = state;
  const lead = url.searchParams.get('lead');
  const attempts =
    lead === null ? deliveries.attempts : deliveries.attempts.filter((attempt) => attempt.leadId === lead);
  return part(url, attempts, (deliveredPart, next) =>
    json(200, {
      deliveries: deliveredPart,
      next,
      total: attempts.length,
      acknowledged: deliveries.acknowledged,
      pending: deliveries.pending,
      paused: deliveries.paused,
    }),
  );
}

/** Every request of the list operation, oldest first. */
export function requestsTruth(state: SandboxState, url: URL): Answer {
  const { entries } = state.requests;
  return part(url, entries, (requests, next) => json(200, { requests, next, total: entries.length }));
}

/** Every lead in order of creation: the record in its own bytes, and how its delivery stands. */
export function leadsTruth(state: SandboxState, url: URL): Answer {
  const all = Array.from(state.leads);
  return part(url, all, (leads, next) => {
    const pieces = leads.flatMap((lead, i) => {
      const { id, status, seq } = lead;
      const acknowledged = state.deliveries.isAcknowledged(id);
      const head = JSON.stringify({ id, seq, status, acknowledged }).slice(0, -1);
      return [Buffer.from(`${i === 0 ? '' : ','}${head},"lead":`), lead.text(), Buffer.from('}')];
    });
    const tail = JSON.stringify({ next, total: all.length }).slice(1);
    return jsonBytes(200, Buffer.concat([Buffer.from('{"leads":['), ...pieces, Buffer.from(`],${tail}`)]));
  });
}

/** `?after=N&limit=N`: the truth may be long. `next` is what to say as `after`, or null at the end. */
function part<T>(
  url: URL,
  all: readonly T[],
  answer: (part: readonly T[], next: number | null) => Answer,
): Answer {
  const number = (name: string, otherwise: number): number => {
    const text = url.searchParams.get(name);
    return text === null ? otherwise : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  };
  const [after, limit] = [number('after', 0), number('limit', 10_000)];
  if (Number.isNaN(after) || !(limit >= 1)) {
    return failure(400, 'invalid_request', 'after and limit must be whole numbers');
  }
  const end = after + limit;
  return answer(all.slice(after, end), end < all.length ? end : null);
}

import {
  errorResponse,
  jsonBytesResponse,
  jsonResponse,
  type PlainResponse,
} from '../../http/server/plain-response.ts';
import type { SandboxState } from '../sandbox-state.ts';

/** Every attempt of every delivery, oldest first; `?lead=ID` for those of one lead. */
export function listAttempts({ deliveries }: SandboxState, url: URL): PlainResponse {
  const leadId = url.searchParams.get('lead');
  const attempts =
    leadId === null ? deliveries.attempts : deliveries.attempts.filter((one) => one.leadId === leadId);
  return sliceResponse(url, attempts, (slice, next) =>
    jsonResponse(200, {
      deliveries: slice,
      next,
      total: attempts.length,
      acknowledged: deliveries.acknowledged,
      pending: deliveries.pending,
      paused: deliveries.paused,
    }),
  );
}

/** Every request of the list operation, oldest first. */
export function listRequests(state: SandboxState, url: URL): PlainResponse {
  const { entries } = state.requests;
  return sliceResponse(url, entries, (requests, next) =>
    jsonResponse(200, { requests, next, total: entries.length }),
  );
}

/** Every lead in order of creation: the record in its own bytes, and the state of its delivery. */
export function listAllLeads(state: SandboxState, url: URL): PlainResponse {
  const all = Array.from(state.leads);
  return sliceResponse(url, all, (leads, next) => {
    const pieces = leads.flatMap((lead, i) => {
      const { id, status, seq } = lead;
      const acknowledged = state.deliveries.isAcknowledged(id);
      const head = JSON.stringify({ id, seq, status, acknowledged }).slice(0, -1);
      return [Buffer.from(`${i === 0 ? '' : ','}${head},"lead":`), lead.text(), Buffer.from('}')];
    });
    const tail = JSON.stringify({ next, total: all.length }).slice(1);
    const body = Buffer.concat([Buffer.from('{"leads":['), ...pieces, Buffer.from(`],${tail}`)]);
    return jsonBytesResponse(200, body);
  });
}

/** `?after=N&limit=N`, since records may be many. `next` is the `after` of the next request, or null at the end. */
function sliceResponse<T>(
  url: URL,
  all: readonly T[],
  respond: (slice: readonly T[], next: number | null) => PlainResponse,
): PlainResponse {
  const number = (name: string, fallback: number): number => {
    const text = url.searchParams.get(name);
    return text === null ? fallback : /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  };
  const [after, limit] = [number('after', 0), number('limit', 10_000)];
  if (Number.isNaN(after) || !(limit >= 1)) {
    return errorResponse(400, 'invalid_request', 'after and limit must be whole numbers');
  }
  const end = after + limit;
  return respond(all.slice(after, end), end < all.length ? end : null);
}

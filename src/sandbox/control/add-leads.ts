import { errorResponse, jsonResponse, type PlainResponse } from '../../http/server/plain-response.ts';
import type { PlainRequest } from '../../http/server/plain-server.ts';
import type { SandboxState } from '../sandbox-state.ts';

/** Adds the lead in the body; without a body, as many generated ones as `?count=` says. */
export async function addLeads(state: SandboxState, url: URL, request: PlainRequest): Promise<PlainResponse> {
  const body = await request.body();
  if (body === undefined) return errorResponse(413, 'too_large', 'A lead is smaller than this.');
  if (body.toString('latin1').trim() !== '') {
    const added = state.add(body);
    if (!('problem' in added)) return jsonResponse(201, { ids: [added.id] });
    return added.taken === true
      ? errorResponse(409, 'taken', added.problem)
      : errorResponse(400, 'not_a_lead', added.problem);
  }
  const count = url.searchParams.get('count') ?? '1';
  if (!/^[1-9]\d{0,5}$/.test(count)) {
    return errorResponse(400, 'invalid_request', 'count must be a whole number from 1 to 999999');
  }
  return jsonResponse(201, { ids: Array.from({ length: Number(count) }, () => state.generate().id) });
}

import { LeadsError } from '../../errors.ts';
import { errorResponse, jsonResponse, type PlainResponse } from '../../http/server/plain-response.ts';
import type { PlainRequest } from '../../http/server/plain-server.ts';
import { apiFaults, deliveryFaults, readFaults, showFaults } from '../faults.ts';
import type { SandboxState } from '../sandbox-state.ts';

export function showCurrentFaults({ apiInjector, deliveryInjector }: SandboxState): PlainResponse {
  return jsonResponse(200, {
    api: showFaults(apiInjector.faults),
    deliveries: showFaults(deliveryInjector.faults),
    injected: {
      api: Object.fromEntries(apiInjector.injected),
      deliveries: Object.fromEntries(deliveryInjector.injected),
    },
  });
}

/** Replaces the faults of each side that the body names; the other one stays. An invalid body changes nothing. */
export async function changeFaults(
  state: SandboxState,
  _: URL,
  request: PlainRequest,
): Promise<PlainResponse> {
  try {
    const body = asObject(JSON.parse(String(await request.body()))) as Record<string, unknown>;
    const { api, deliveries, ...others } = body;
    const unknown = Object.keys(others)[0];
    if (unknown !== undefined) {
      return errorResponse(400, 'invalid_request', `there is no '${unknown}' to change`);
    }
    const apiNext = api === undefined ? undefined : readFaults(asObject(api), apiFaults);
    if (deliveries !== undefined) state.setDeliveryFaults(readFaults(asObject(deliveries), deliveryFaults));
    if (apiNext !== undefined) state.apiInjector.faults = apiNext;
  } catch (error) {
    const message = error instanceof LeadsError ? error.message : 'the body must be a JSON object';
    return errorResponse(400, 'invalid_request', message);
  }
  return showCurrentFaults(state);
}

function asObject(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new TypeError('not an object');
}

import type { PlainResponse } from '../../http/server/plain-response.ts';
import type { PlainRequest } from '../../http/server/plain-server.ts';
import type { Clock } from '../../time/clock.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { drawFaults } from './draw-faults.ts';
import { transmitWith } from './faulty-transmission.ts';
import { listLeads } from './list-leads.ts';

/** Answers one request of the list operation, with the faults that are drawn for it, and logs it. */
export function answerListRequest(
  { method, target, headers }: PlainRequest,
  url: URL,
  state: SandboxState,
  clock: Clock,
): PlainResponse {
  const id = state.requests.nextId();
  const { response, count, faults } = listLeads(
    { method, url, authorization: headers.authorization },
    {
      leads: state.leads,
      api: state.api,
      limit: state.limit,
      drawFaults: () => {
        const drawn = drawFaults(state.apiInjector, state.seed, state.requests.keyOf(target));
        if (drawn.shift) state.generate();
        return drawn;
      },
    },
  );
  const transmission = faults?.transmission;
  state.logRequest({
    id,
    at: new Date(state.now()).toISOString(),
    method,
    target,
    status: transmission?.kind === 'reset' ? null : response.status,
    leads: count,
    faults: faults?.names ?? [],
  });
  return {
    ...response,
    headers: { ...response.headers, 'x-request-id': id },
    transmit: transmission && transmitWith(transmission, clock),
  };
}

import { errorResponse, jsonResponse, type PlainResponse } from '../../http/server/plain-response.ts';
import { isFromThisMachine } from '../../http/server/local-only.ts';
import type { PlainRequest } from '../../http/server/plain-server.ts';
import type { SandboxState } from '../sandbox-state.ts';
import { addLeads } from './add-leads.ts';
import { changeFaults, showCurrentFaults } from './change-faults.ts';
import { listAllLeads, listAttempts, listRequests } from './recorded-activity.ts';

type Endpoint = (
  state: SandboxState,
  url: URL,
  request: PlainRequest,
) => PlainResponse | Promise<PlainResponse>;

/** An endpoint that does one thing and answers with the state after it. */
const action =
  (act: (state: SandboxState) => void): Endpoint =>
  (state) => {
    act(state);
    return jsonResponse(200, {
      leads: state.leads.size,
      pending: state.deliveries.pending,
      paused: state.deliveries.paused,
    });
  };

/** For tests, and for a person with curl, to look into the sandbox and to control it: endpoints by path and method. */
const endpoints: Readonly<Record<string, Readonly<Record<string, Endpoint>>>> = {
  '/openapi.json': {
    GET: async (state, url) => {
      const { openapi } = await import('../openapi/document.ts');
      return jsonResponse(200, openapi(state.api, url.origin, state.credentialHeaders));
    },
  },
  '/sandbox/leads': { GET: listAllLeads, POST: addLeads },
  '/sandbox/requests': { GET: listRequests },
  '/sandbox/deliveries': { GET: listAttempts, DELETE: action((state) => state.deliveries.clear()) },
  '/sandbox/deliveries/pause': { POST: action((state) => state.deliveries.pause()) },
  '/sandbox/deliveries/resume': { POST: action((state) => state.deliveries.resume()) },
  '/sandbox/faults': { GET: showCurrentFaults, PUT: changeFaults },
  '/sandbox/reset': { POST: action((state) => state.reset()) },
};

/** The response of a control endpoint; undefined when the path is none of them. */
export async function answerControlRequest(
  state: SandboxState,
  url: URL,
  request: PlainRequest,
  ownOrigin: string,
): Promise<PlainResponse | undefined> {
  const methods = endpoints[url.pathname];
  if (methods === undefined) return undefined;
  if (!isFromThisMachine(request, ownOrigin)) {
    return errorResponse(403, 'forbidden', 'Only programs on this machine may do this.');
  }
  const endpoint = methods[request.method];
  if (endpoint === undefined) {
    const allow = Object.keys(methods).join(', ');
    return errorResponse(405, 'method_not_allowed', `This takes ${allow}.`, { allow });
  }
  return endpoint(state, url, request);
}

import { isObject, type Json } from '../../json/exact.ts';
import type { WireReplay, WireSession } from '../wire.ts';
import type { ApiAnswer, ApiParts, ApiRequest } from './api-request.ts';
import { badRequest, problemAnswer } from './problem-answer.ts';

/** `POST /api/session` */
export function sessionAnswer({ key, onSession }: ApiParts, { body }: ApiRequest): ApiAnswer {
  const value = parsed(body);
  const given = isObject(value) ? value['key'] : undefined;
  const token = typeof given === 'string' ? key.tokenFor(given) : undefined;
  if (token === undefined) {
    const problem = 'The key is not the one of this server, which may have been started anew.';
    const hint = 'Open the address that it printed last.';
    return Promise.resolve(problemAnswer({ status: 401, code: 'wrong-key', problem, hint }));
  }
  onSession?.();
  const session: WireSession = { token };
  return Promise.resolve({ status: 200, body: session });
}

/** `POST /api/replays` */
export async function replayAnswer({ replays, feed }: ApiParts, { body }: ApiRequest): ApiAnswer {
  const asked = replayIn(parsed(body));
  if (asked === undefined) {
    return problemAnswer(
      badRequest('The body must be {"seq": a number, "target": a text, "body": a text or none}.'),
    );
  }
  const replayed = await replays.replay(asked);
  feed.touch(asked.seq);
  return 'code' in replayed ? problemAnswer(replayed) : { status: 200, body: replayed };
}

function replayIn(value: Json | undefined): WireReplay | undefined {
  if (!isObject(value)) return undefined;
  const { seq, target, body } = value;
  if (!Number.isSafeInteger(seq) || typeof seq !== 'number' || typeof target !== 'string') return undefined;
  if (body === undefined || body === null) return { seq, target };
  return typeof body === 'string' ? { seq, target, body } : undefined;
}

function parsed(body: Uint8Array): Json | undefined {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as Json;
  } catch {
    // The answer says what the body must be.
    return undefined;
  }
}

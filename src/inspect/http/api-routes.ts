import { messageOf } from '../../errors.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { unwantedRequest } from '../access/request-guard.ts';
import type { ApiAnswer, ApiParts, ApiRequest } from './api-request.ts';
import { badRequest, inboxFailed, problemAnswer } from './problem-answer.ts';
import { QueryError, QueryValues } from './query-values.ts';
import {
  bodyAnswer,
  chartsAnswer,
  curlAnswer,
  deliveryAnswer,
  diffAnswer,
  inboxAnswer,
  pageAnswer,
} from './read-answers.ts';
import { eventsAnswer, searchAnswers } from './stream-answers.ts';
import { replayAnswer, sessionAnswer } from './write-answers.ts';

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: RegExp;
  readonly answer: (parts: ApiParts, request: ApiRequest) => ApiAnswer;
}

const routes = (): readonly Route[] => [
  { method: 'POST', path: /^\/api\/session$/, answer: sessionAnswer },
  { method: 'GET', path: /^\/api\/inbox$/, answer: inboxAnswer },
  { method: 'GET', path: /^\/api\/deliveries$/, answer: pageAnswer },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})$/, answer: deliveryAnswer },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})\/body$/, answer: bodyAnswer },
  { method: 'GET', path: /^\/api\/deliveries\/([1-9]\d{0,14})\/curl$/, answer: curlAnswer },
  { method: 'GET', path: /^\/api\/search$/, answer: searchAnswers() },
  { method: 'GET', path: /^\/api\/diff$/, answer: diffAnswer },
  { method: 'GET', path: /^\/api\/charts$/, answer: chartsAnswer },
  { method: 'GET', path: /^\/api\/events$/, answer: eventsAnswer },
  { method: 'POST', path: /^\/api\/replays$/, answer: replayAnswer },
];

/** Answers the page's requests, those of nobody else. `onError` is told of a failure that is a bug. */
export function apiAnswers(parts: ApiParts): (request: Delivery) => ApiAnswer {
  const known = routes();
  return async (request) => {
    const unwanted = unwantedRequest(request, parts.key);
    if (unwanted !== undefined) return problemAnswer(unwanted);
    const path = request.path.replace(/\?.*$/s, '');
    const route = known.find((one) => one.path.test(path));
    if (route === undefined) {
      return problemAnswer({ status: 404, code: 'not-found', problem: 'There is nothing at this path.' });
    }
    if (request.method !== route.method) {
      const problem = `This path takes ${route.method} only.`;
      return problemAnswer({ status: 405, code: 'bad-request', problem }, { allow: route.method });
    }
    const seq = Number(route.path.exec(path)?.[1] ?? 0);
    try {
      return await route.answer(parts, { query: new QueryValues(request.path), seq, body: request.body });
    } catch (error) {
      if (error instanceof QueryError) return problemAnswer(badRequest(messageOf(error)));
      return problemAnswer(inboxFailed(error));
    }
  };
}

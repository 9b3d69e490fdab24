import type { Context } from '../../context.ts';
import type { Call } from '../../service/client/exchange.ts';
import { openService } from '../../service/client/service.ts';
import { type Completion, IncompleteError } from '../../service/listing/evidence/completion.ts';
import { requestParamsOf } from '../../service/pagination/request-params.ts';
import { rawCall } from '../../service/raw/raw-call.ts';
import { rawPages } from '../../service/raw/raw-pages.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { AnswerPrinter } from './answer-printer.ts';
import { callUrl } from './call-url.ts';
import { type ApiOptions, rejectContradictions } from './options.ts';
import { requestBody } from './request-body.ts';

export async function run(options: ApiOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const { method, path, field, include, paginate } = options;
  const settings = await context.settings();
  const isReading = method === 'GET' || method === 'HEAD';
  const url = callUrl(settings.account().baseUrl, path, isReading ? field : []);
  const body = await requestBody(options, context);
  const service = await openService(context);
  const call: Call = { method, url, headers: headersOf(options, body !== undefined), body };
  const printer = new AnswerPrinter(context);
  // A filter is written for the answer that was hoped for; what an error says is in the message.
  const isFiltered = options.jq !== undefined;
  if (paginate) {
    const params = requestParamsOf(service.account.baseUrl, service.dialect, url);
    const pages = rawPages(service, params, call.headers, context.signal);
    let page = await pages.next();
    for (; page.done !== true; page = await pages.next()) {
      const { answer, body: bytes } = page.value;
      if (answer.failure !== undefined && isFiltered) continue;
      if (include) await printer.printHead(answer);
      await printer.printBody(answer, [bytes]);
    }
    await printer.end();
    rejectUnproven(page.value);
    return 'done';
  }
  const answer = await rawCall(service, call, context.signal);
  if (answer.failure !== undefined && isFiltered) throw answer.failure;
  if (include) await printer.printHead(answer);
  await printer.printBody(answer, answer.body);
  await printer.end();
  if (answer.failure !== undefined) throw answer.failure;
  return 'done';
}

/** Those of `--header` take the place of ours. */
function headersOf({ header }: ApiOptions, hasBody: boolean): Record<string, string> {
  const typed = header.map(([name, value]) => [name.toLowerCase(), value] as const);
  return {
    accept: 'application/json, */*;q=0.5',
    ...(hasBody ? { 'content-type': 'application/json' } : {}),
    ...Object.fromEntries(typed),
  };
}

function rejectUnproven(end: Completion): void {
  if (end.kind === 'complete') return;
  throw new IncompleteError(end, 'pages');
}

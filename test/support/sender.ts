import { readFileSync } from 'node:fs';
import { Agent, request } from 'undici';

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export interface Sender {
  /** Delivers one body; rejects where no answer comes. */
  deliver(body: object): Promise<Answered>;
  close(): Promise<void>;
}

/** Delivers JSON to a receiver over connections that are kept open; `authority`: the file of who vouches for it. */
export function senderTo(url: string, { token, authority }: { token: string; authority?: string }): Sender {
  const connect = authority === undefined ? {} : { ca: readFileSync(authority) };
  const dispatcher = new Agent({ connections: 100, pipelining: 1, connect });
  const headers = { 'content-type': 'application/json', 'x-webhook-token': token };
  return {
    async deliver(body) {
      const answer = await request(url, { method: 'POST', headers, dispatcher, body: JSON.stringify(body) });
      return { status: answer.statusCode, text: await answer.body.text() };
    },
    close: () => dispatcher.destroy(),
  };
}

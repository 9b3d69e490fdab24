import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';

export interface Answered {
  readonly status: number;
  readonly text: string;
}

export interface Sender {
  /** Delivers one body; rejects where no answer comes. */
  deliver(body: object): Promise<Answered>;
  close(): void;
}

/** Delivers JSON to a receiver over connections that are kept open; `authority`: the file of who vouches for it. */
export function senderTo(url: string, { token, authority }: { token: string; authority?: string }): Sender {
  const { Agent, request } = authority === undefined ? http : https;
  const ca = authority === undefined ? {} : { ca: readFileSync(authority) };
  const agent = new Agent({ keepAlive: true, maxSockets: 100, ...ca });
  const headers = { 'content-type': 'application/json', 'x-webhook-token': token };
  return {
    deliver: (body) =>
      new Promise((resolve, reject) => {
        const sent = request(url, { method: 'POST', agent, headers }, (response) => {
          const status = response.statusCode ?? 0;
          text(response).then((answer) => resolve({ status, text: answer }), reject);
        });
        sent.on('error', reject).end(JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
}

import { describeAnswer } from '../judge-answer.ts';
import type { Probe } from '../check-probe.ts';
import { isCutOff } from '../wire/answer.ts';
import { rawExchange } from '../wire/raw-exchange.ts';
import { tlsProbe } from './tls-common.ts';

export const plainHttp: Probe = {
  ...tlsProbe,
  name: 'tls.plain-http',
  expected: 'plain HTTP is refused on the port of TLS',
  hint: 'serve this port over TLS alone: others on the network can read a lead that is sent unencrypted',
  async run({ endpoint, wire }) {
    // Without a credential or a lead, since others on the network can read it.
    const request = `POST ${endpoint.url.pathname} HTTP/1.1\r\nHost: ${endpoint.url.host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
    const answer = await rawExchange({ ...endpoint, isSecure: false }, request, wire);
    const seen = describeAnswer(answer);
    if (!answer.answered) return { result: isCutOff(answer) ? 'pass' : 'warn', seen };
    const isRefused =
      answer.status === 400 || answer.status === 403 || answer.status === 426 || answer.status === 497;
    const isRedirect = answer.status >= 300 && answer.status < 400;
    return { result: isRefused || isRedirect ? 'pass' : 'fail', seen };
  },
};

import { withContentType } from '../credential.ts';
import { acknowledges, refuses } from '../judge-answers.ts';
import { probeGroup } from '../probe.ts';

export const protocolProbes = probeGroup('protocol', { rule: '4.2 rule 1', level: 'should' }, [
  {
    name: 'method',
    expected: '4xx to GET and PUT',
    hint: 'take POST alone, and answer 405 to every other method',
    isHarmless: true,
    run: refuses((session) => {
      const request = session.delivery();
      const empty = { body: Buffer.alloc(0), leadId: undefined };
      return [
        { ...request, form: 'to PUT', method: 'PUT' },
        { ...request, form: 'to GET', method: 'GET', ...empty },
      ];
    }),
  },
  {
    name: 'content-type',
    expected: '4xx to a lead that is sent as text/plain',
    hint: 'answer 415 to anything but application/json: a web page can send text/plain to any address',
    isHarmless: true,
    run: refuses((session) => withContentType(session.delivery(), 'text/plain')),
  },
  {
    name: 'variants',
    expected: '2xx to a chunked body, and to application/json; charset=utf-8',
    hint: 'read a body without Content-Length as well, and compare the media type without its parameters',
    run: acknowledges((session) => [
      { ...session.delivery({ form: 'to a chunked body' }), isChunked: true },
      withContentType(session.delivery({ form: 'to charset=utf-8' }), 'application/json; charset=utf-8'),
    ]),
  },
]);

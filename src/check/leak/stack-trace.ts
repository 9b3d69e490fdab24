import type { Probe } from '../check-probe.ts';
import { everythingSaid } from './leaked-credential.ts';

/** Frames as the usual platforms print them; HTML may have escaped them. */
const frames = [
  // JavaScript
  /\bat (?:async )?[\w$.<>[\] ]{1,100} \((?:file:|node:|\/|[A-Z]:\\|<anonymous>|&lt;anonymous&gt;)/,
  /\bat (?:file:\/\/|node:internal|\/)[^\s()]{1,300}:\d+:\d+/,
  // Python, Java, PHP, C#, Go, Ruby
  /Traceback \(most recent call last\)/,
  /\bat [\w$.]{1,200}\([\w$]{1,100}\.(?:java|kt|scala):\d+\)/,
  /#\d+ [^\s]{1,300}\.php\(\d+\)/,
  /\bat [\w.`<>]{1,200}\(.{0,300}\) in .{1,300}\.cs:line \d+/,
  /goroutine \d+ \[running\]/,
  /\.rb:\d+:in [`']/,
];

export const stackTrace: Probe = {
  name: 'leak.stack-trace',
  rule: '4.2 rule 3',
  level: 'should',
  expected: 'no answer holds a stack trace',
  hint: 'answer errors with a short text in production (Express: NODE_ENV=production), and log the trace',
  stage: 'last',
  isHarmless: true,
  run(session) {
    const found = session.exchanges.find((exchange) => {
      const said = everythingSaid(exchange);
      return frames.some((frame) => frame.test(said));
    });
    return Promise.resolve(
      found === undefined
        ? { result: 'pass', seen: `none of ${session.exchanges.length} answers does` }
        : { result: 'fail', seen: 'an answer does', exchange: found },
    );
  },
};

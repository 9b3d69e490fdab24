import { setFlagsFromString } from 'node:v8';
import type { Dispatcher } from 'undici';
import { type AgentOptions, createAgent } from './agent.ts';

/** The connections of a process that is ours alone: V8's flags count for all of it. */
export function createProcessAgent(options: AgentOptions): Promise<Dispatcher> {
  // Otherwise V8 compiles the HTTP parser's wasm a second time, optimised, and the process cannot exit for 75 ms until
  // that is done; without it the parser is not noticeably slower.
  setFlagsFromString('--wasm-tiering-budget=100000000');
  // The young generation would grow to 48 MB with what dies at once anyway, page after page: a third of the memory of
  // a long walk, for a twentieth of its time.
  setFlagsFromString('--semi-space-growth-factor=1');
  return createAgent(options);
}

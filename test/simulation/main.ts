/** What the runner loads of the bundle: one process decides which worlds run, its children run them. */
export { simulate } from './simulate.ts';
export { work } from './worker.ts';

/** What a simulated process runs: the product's own entry, and the error that ends it in order. */
export { InterruptedError } from '../../src/errors.ts';
export { main } from '../../src/main.ts';

/** A step of the tour whose result is not the one that it announced. */
export class DemoError extends Error {}

/** A step of the tour that did not do what it says. */
export class DemoError extends Error {}

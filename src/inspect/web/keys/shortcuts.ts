export interface Shortcut {
  readonly keys: readonly string[];
  readonly text: string;
}

/** What the page's keys do, in the order in which they are shown. */
export const shortcuts: readonly Shortcut[] = [
  { keys: ['j', 'k'], text: 'Next and previous delivery' },
  { keys: ['Enter'], text: 'Open the delivery' },
  { keys: ['/'], text: 'Search' },
  { keys: ['?'], text: 'All keys' },
  { keys: ['r'], text: 'Replay the delivery' },
  { keys: ['d'], text: 'Compare it with another one' },
  { keys: ['c'], text: 'Copy it as a curl command' },
  { keys: ['Esc'], text: 'Close what is open, stop a search' },
];

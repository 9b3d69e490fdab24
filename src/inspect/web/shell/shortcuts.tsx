import type { VNode } from 'preact';
import { Key } from '../elements.tsx';

interface Shortcut {
  readonly keys: readonly string[];
  readonly text: string;
}

/** What the page's keys do, in the order in which they are shown. */
export const shortcuts: readonly Shortcut[] = [
  { keys: ['j', 'k'], text: 'Next and previous delivery' },
  { keys: ['Enter'], text: 'Open the delivery' },
  { keys: ['/'], text: 'Filter by words' },
  { keys: ['?'], text: 'All keys' },
  { keys: ['Home', 'G'], text: 'First and last delivery of the list' },
  { keys: ['r'], text: 'Replay the delivery' },
  { keys: ['c'], text: 'Copy it as a curl command' },
  { keys: ['Esc'], text: 'Close what is open, clear the words' },
];

export function ShortcutList({ shortcuts }: { shortcuts: readonly Shortcut[] }): VNode {
  return (
    <dl class="shortcuts">
      {shortcuts.map(({ keys, text }) => (
        <div key={text}>
          <dt>
            {keys.map((name) => (
              <Key key={name} name={name} />
            ))}
            <span class="only-spoken">{keys.join(' or ')}</span>
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
    </dl>
  );
}

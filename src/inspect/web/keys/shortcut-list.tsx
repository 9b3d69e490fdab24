import type { VNode } from 'preact';
import { Key } from './key.tsx';
import type { Shortcut } from './shortcuts.ts';

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

import type { VNode } from 'preact';
import { shortcuts } from '../keys/shortcuts.ts';
import { Key } from '../keys/key.tsx';

export function NothingOpen(): VNode {
  return (
    <div class="nothing-open">
      <h2>No delivery is open</h2>
      <p>Choose one in the list to see its body, its headers and what became of it.</p>
      <dl class="shortcuts">
        {shortcuts.slice(0, 4).map(({ keys, text }) => (
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
    </div>
  );
}

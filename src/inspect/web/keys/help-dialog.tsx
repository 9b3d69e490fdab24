import type { VNode } from 'preact';
import { useModel } from '../state/page-model.ts';
import { Dialog } from '../shell/dialog.tsx';
import { Key } from './key.tsx';
import { shortcuts } from './shortcuts.ts';

export function HelpDialog(): VNode {
  const { inbox } = useModel();
  return (
    <Dialog title="Keys">
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
      <p class="note">{inbox.program}</p>
    </Dialog>
  );
}

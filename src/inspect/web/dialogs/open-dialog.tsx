import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { WireCurl } from '../../wire.ts';
import { ShortcutList, shortcuts } from '../shell/shortcuts.tsx';
import { httpsAssumed } from '../state/delivery-actions.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { Dialog } from './dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';

export function Dialogs(): VNode | null {
  const open = useValue(useModel().dialog);
  if (open === null) return null;
  if (open.name === 'help') return <HelpDialog />;
  if (open.name === 'curl') return <CurlDialog {...open} />;
  return <ReplayDialog delivery={open.delivery} />;
}

function HelpDialog(): VNode {
  const { inbox } = useModel();
  return (
    <Dialog title="Keys">
      <ShortcutList shortcuts={shortcuts} />
      <p class="note">{inbox.program}</p>
    </Dialog>
  );
}

/** Where the clipboard is closed to the page. */
function CurlDialog({ command, isHttpsAssumed }: WireCurl): VNode {
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    text.current?.focus();
    text.current?.select();
  }, []);
  return (
    <Dialog title="Copy as curl">
      <p>This browser does not let the page write to the clipboard. The command is selected: copy it.</p>
      {isHttpsAssumed && <p class="note">{httpsAssumed}</p>}
      <textarea ref={text} class="text-area" rows={10} readOnly aria-label="Command" value={command} />
    </Dialog>
  );
}

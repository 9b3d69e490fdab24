import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { WireCurl, WireSave, WireSaved } from '../../wire.ts';
import { ShortcutList, shortcuts } from '../shell/shortcuts.tsx';
import { httpsAssumed, saveFrom } from '../state/delivery-actions.ts';
import { useModel, useValue } from '../state/page-model.ts';
import { CompareDialog } from './compare-dialog.tsx';
import { Dialog, Option, Options } from './dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { type Problem, problemOf } from '../api-client/problem.ts';
import { isFiltered } from '../state/rows.ts';
import { sentence } from '../text/format.ts';

export function Dialogs(): VNode | null {
  const open = useValue(useModel().dialog);
  if (open === null) return null;
  if (open.name === 'help') return <HelpDialog />;
  if (open.name === 'save') return <SaveDialog />;
  if (open.name === 'curl') return <CurlDialog {...open} />;
  if (open.name === 'compare') return <CompareDialog delivery={open.delivery} />;
  return <ReplayDialog delivery={open.delivery} />;
}

function HelpDialog(): VNode {
  const { inbox } = useModel();
  return (
    <Dialog title="Keys">
      <ShortcutList shortcuts={shortcuts} />
      <p class="note">
        A search finds what holds all of its words, <q>several in quotes</q> as they are;{' '}
        <code>reason:stale</code>, <code>status:401</code>, <code>target:crm</code> and <code>since:1h</code>{' '}
        look in one place.
      </p>
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

const forms: readonly (readonly [form: WireSave['form'], name: string, what: string])[] = [
  ['html', 'Report', 'counts, charts and the newest rows, as a page that needs no network'],
  ['csv', 'CSV', 'all rows, for spreadsheets'],
  ['ndjson', 'NDJSON', 'all rows, a JSON object a line'],
];

/** What the list shows now, as a file that the program writes. */
function SaveDialog(): VNode {
  const model = useModel();
  const [form, setForm] = useState<WireSave['form']>('html');
  const [isWhole, setWhole] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const { value: filter } = model.filter;
  const text = model.search.state.value?.text ?? '';
  const save = async (): Promise<void> => {
    const { verdicts, since, until } = filter;
    const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
    const asked: WireSave = { form, verdicts, since, until, text, zone, personalData: isWhole };
    try {
      const { path } = await model.api.post<WireSaved>('/api/saves', asked);
      saveFrom(path, '');
      model.dialog.value = null;
    } catch (error) {
      setProblem(problemOf(error));
    }
  };
  return (
    <Dialog title="Save">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Options title={isFiltered(filter) || text !== '' ? 'What is filtered now' : 'All deliveries'}>
          {forms.map(([one, name, what]) => (
            <Option
              key={one}
              of="form"
              isChosen={form === one}
              onChoose={() => setForm(one)}
              isFocused={form === one}
            >
              <span class="option-name">
                {name} <span class="note">{what}</span>
              </span>
            </Option>
          ))}
        </Options>
        {form === 'html' ? (
          <label class="note">
            <input type="checkbox" checked={isWhole} onChange={() => setWhole(!isWhole)} /> Names, phones and
            e-mails whole, not initials and last digits
          </label>
        ) : (
          <p class="note">It holds personal data.</p>
        )}
        {problem !== null && <p role="alert">{sentence(problem.message)}</p>}
        <div class="dialog-actions">
          <button type="submit" class="button primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

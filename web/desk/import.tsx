import { customerPath, type DeskViewOf } from '#contract/desk.ts';
import { AccountForm, Panel } from '../account/account-form.tsx';
import { Title } from '../account/account-screen.tsx';
import { useApp } from '../app-context.ts';
import { HiddenFields } from '../components/portal-form.tsx';
import { useDesk } from './desk-context.tsx';
import { Table } from './table.tsx';

type View = DeskViewOf<'import'>;

/** A CSV file of people for a customer: what the newest one would do, does or did, and the form for another. */
export function Import({ customerKey, displayName, asksProof, last }: View) {
  const { text, toDesk } = useDesk();
  const file = { type: 'file', name: 'file', accept: '.csv,.tsv,.txt,text/csv', required: true };
  const isBusy = last?.stage === 'checking' || last?.stage === 'running';
  return (
    <>
      <Title name={displayName}>
        <h1>{text('desk-act-import')}</h1>
        <a href={toDesk(customerPath(customerKey))}>{displayName}</a>
      </Title>
      {isBusy && <meta httpEquiv="refresh" content="3" />}
      {last && <Newest {...last} isBusy={isBusy} />}
      {!isBusy && (
        <Panel title="desk-import-choose">
          <p className="hint">{text('desk-import-hint')}</p>
          {asksProof ? (
            <AccountForm action="import" button="desk-import-prove" look="quiet" />
          ) : (
            <AccountForm action="import" encType="multipart/form-data" button="desk-import-check" look="quiet">
              <input {...file} aria-label={text('desk-import-choose')} />
            </AccountForm>
          )}
        </Panel>
      )}
    </>
  );
}

type Last = NonNullable<View['last']> & { isBusy: boolean };
type Refused = Last['refused'][number];

function Newest({ id, stage, isBusy, refused, refusedCount, ...counts }: Last) {
  const { text } = useDesk();
  const { language } = useApp();
  const numbers = Object.entries({ ...counts, refused: refusedCount });
  const inWords = Object.fromEntries(numbers.map(([name, count]) => [name, count.toLocaleString(language)]));
  const words = isBusy ? 'desk-import-read' : stage === 'checked' ? 'desk-import-would' : 'desk-import-did';
  const columns = {
    'desk-import-line': ({ line }: Refused) => line,
    'desk-import-problem': ({ problem }: Refused) => problem,
  };
  return (
    <Panel title={`desk-import-${stage}`}>
      {isBusy && <progress max={counts.lines} value={counts.read} aria-label={text(`desk-import-${stage}`)} />}
      <p>{text(words, inWords)}</p>
      {stage === 'checked' && counts.read < counts.lines && <p>{text('desk-import-stopped', inWords)}</p>}
      {stage === 'checked' && counts.added > 0 && counts.read === counts.lines && (
        <AccountForm action="import" button="desk-import-run">
          <HiddenFields of={[['import', id]]} />
        </AccountForm>
      )}
      {refused.length > 0 && <h2>{text('desk-import-refused')}</h2>}
      {refused.length > 0 && <Table label="desk-import-refused" rows={refused} columns={columns} />}
    </Panel>
  );
}

import { customerPath, type DeskViewOf } from '#contract/desk.ts';
import { AccountForm } from '../account/account-form.tsx';
import { initialsOf } from '../account/account-screen.tsx';
import { useApp } from '../app-context.ts';
import { HiddenFields } from '../components/portal-form.tsx';
import { useDesk } from './desk-context.tsx';
import { Table } from './table.tsx';

/** A CSV file of people for a customer: what the newest one would do, does or did, and the form for another. */
export function Import({ customerKey, displayName, asksProof, last }: DeskViewOf<'import'>) {
  const { text, toDesk } = useDesk();
  const isBusy = last?.stage === 'checking' || last?.stage === 'running';
  return (
    <>
      <header className="title">
        <span className="arch" aria-hidden="true">
          {initialsOf(displayName)}
        </span>
        <div>
          <h1>{text('desk-act-import')}</h1>
          <p className="soft">
            <a href={toDesk(customerPath(customerKey))}>{displayName}</a>
          </p>
        </div>
      </header>
      {last && <Newest {...last} />}
      {!isBusy && (
        <section className="panel">
          <h2>{text('desk-import-choose')}</h2>
          <p className="hint">{text('desk-import-hint')}</p>
          {asksProof ? (
            <AccountForm action="import" button="desk-import-prove" look="quiet" />
          ) : (
            <AccountForm action="import" encType="multipart/form-data" button="desk-import-check" look="quiet">
              <input
                type="file"
                name="file"
                accept=".csv,.tsv,.txt,text/csv"
                aria-label={text('desk-import-choose')}
                required
              />
            </AccountForm>
          )}
        </section>
      )}
    </>
  );
}

function Newest({
  id,
  stage,
  lines,
  read,
  refused,
  refusedCount,
  ...counts
}: NonNullable<DeskViewOf<'import'>['last']>) {
  const { text } = useDesk();
  const { language } = useApp();
  const inWords = (count: number) => count.toLocaleString(language);
  const isBusy = stage === 'checking' || stage === 'running';
  const [added, unchanged] = [inWords(counts.added), inWords(counts.unchanged)];
  return (
    <section className="panel">
      {isBusy && <meta httpEquiv="refresh" content="3" />}
      <h2>{text(`desk-import-${stage}`)}</h2>
      {isBusy && <progress max={lines} value={read} aria-label={text(`desk-import-${stage}`)} />}
      {isBusy && <p>{text('desk-import-read', { read: inWords(read), lines: inWords(lines) })}</p>}
      {stage !== 'checking' && (
        <p>
          {text(stage === 'checked' ? 'desk-import-would' : 'desk-import-did', {
            added,
            unchanged,
            refused: inWords(refusedCount),
          })}
        </p>
      )}
      {stage === 'checked' && counts.added > 0 && (
        <AccountForm action="import" button="desk-import-run">
          <HiddenFields of={[['import', id]]} />
        </AccountForm>
      )}
      {refused.length > 0 && (
        <Table
          label={text('desk-import-refused')}
          columns={[{ title: 'desk-import-line', isNumber: true }, { title: 'desk-import-problem' }]}
          rows={refused.map(({ line, problem }) => ({ id: `${line}`, cells: [line, problem] }))}
        />
      )}
    </section>
  );
}

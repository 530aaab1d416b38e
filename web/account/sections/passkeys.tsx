import type { ViewOf } from '#contract/account.ts';
import { callUrl } from '#contract/calls.ts';
import { useApp } from '../../app-context.ts';
import { Alert } from '../../components/notice.tsx';
import { TextField } from '../../components/text-field.tsx';
import { useAccount } from '../account-context.tsx';
import { AccountForm, BegunForm, ClosedSection, Row, SignInAgain } from '../account-form.tsx';
import { TextAt } from '../times.tsx';

type Props = ViewOf<'passkeys'>;
type Passkey = Props['passkeys'][number];

/** The passkeys of the account; one of them to change, or a new one to add, if that was begun. */
export function Passkeys({ state, isFull, isProven, passkeys }: Props) {
  const { text, toSection, begun, kept } = useAccount();
  if (state === 'off' || state === 'part') return <ClosedSection why={`account-passkeys-${state}`} />;
  const chosen = passkeys.find(({ id }) => id === kept.id);
  if ((begun === 'remove' || begun === 'rename') && chosen)
    return (
      <BegunForm
        hint={begun === 'remove' && text('account-passkeys-removal', { name: chosen.name })}
        action={begun}
        button={`account-passkeys-${begun}`}
      >
        <input type="hidden" name="id" value={chosen.id} />
        {begun === 'rename' && (
          <TextField
            id="name"
            name="name"
            label={text('account-passkeys-name')}
            defaultValue={kept.name ?? chosen.name}
            autoComplete="off"
            required
            maxLength={60}
            autoFocus
          />
        )}
      </BegunForm>
    );
  if (begun === 'enrol' && state === 'signInAgain') return <SignInAgain />;
  const isClosed = state === 'elsewhere' || state === 'useless';
  return (
    <>
      <p className="hint">{text('account-passkeys-what')}</p>
      {passkeys.length > 0 && (
        <ul className="rows">
          {passkeys.map((passkey) => (
            <Item key={passkey.id} {...passkey} />
          ))}
        </ul>
      )}
      {isClosed && <Alert>{text(`account-passkeys-${state}`)}</Alert>}
      {isFull && <Alert>{text('account-passkeys-full')}</Alert>}
      {!isClosed && !isFull && isProven && <Enrol />}
      {!isClosed && !isFull && !isProven && (
        <a className="button" href={toSection('passkeys', 'enrol')}>
          {text('account-passkeys-add')}
        </a>
      )}
    </>
  );
}

function Item({ id, name, provider, madeAt, lastUsedAt }: Passkey) {
  const { text, toSection } = useAccount();
  const facts = [
    provider !== name && provider,
    <TextAt key="made" text="account-passkeys-added" at={madeAt} isDay />,
    lastUsedAt ? <TextAt key="used" text="account-last-used" at={lastUsedAt} isDay /> : text('account-passkeys-unused'),
  ];
  return (
    <Row name={name} facts={facts}>
      <span className="acts">
        {(['rename', 'remove'] as const).map((act) => (
          <a
            key={act}
            className="button quiet"
            href={`${toSection('passkeys', act)}&id=${id}`}
            aria-label={text(`account-passkeys-${act}-one`, { name })}
          >
            {text(`account-passkeys-${act}`)}
          </a>
        ))}
      </span>
    </Row>
  );
}

/** Hidden until the script finds that the browser can make one (web/passkeys/enrol.ts). */
function Enrol() {
  const { text, begun } = useAccount();
  const { page } = useApp();
  return (
    <div className="instead">
      <div data-without>
        <Alert>{text('account-passkeys-no-script')}</Alert>
      </div>
      <AccountForm
        action="enrol"
        hidden
        // After a proof the same words would look as if nothing had happened.
        button={begun === 'enrol' ? 'continue' : 'account-passkeys-add'}
        data-options={callUrl(page.rules.basePath, 'passkeyEnrolOptions')}
        data-none={text('account-passkeys-none')}
        data-already={text('account-passkeys-already')}
        data-old={text('account-passkeys-old')}
        data-busy={text('notice-tooManyAttempts-text')}
      >
        <input type="hidden" name="credential" />
        <p className="hint">{text('account-passkeys-how')}</p>
        <p aria-live="polite" />
      </AccountForm>
    </div>
  );
}

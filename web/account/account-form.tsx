import type { ComponentProps } from 'react';
import { accountFields } from '#contract/account.ts';
import { Alert } from '../components/notice.tsx';
import { type AccountKey, useAccount, useAccountText, useSectionUrl } from './account-context.tsx';

type Props = Omit<ComponentProps<'form'>, 'action'> & {
  action: string;
  /** What its button says; absent where the form has one of its own. */
  button?: AccountKey;
  look?: 'quiet' | 'quiet small';
  [data: `data-${string}`]: string;
};

/** A form of the section: it names the session that its page belongs to, and what it does. */
export function AccountForm({ action, button, look, children, ...more }: Props) {
  const text = useAccountText();
  const { section, sessionId } = useAccount();
  return (
    <form method="post" action={useSectionUrl()(section)} {...more}>
      <input type="hidden" name={accountFields.sessionId} value={sessionId} />
      <input type="hidden" name={accountFields.action} value={action} />
      {children}
      {button && (
        <button className={look ? `button ${look}` : 'button'} type="submit">
          {text(button)}
        </button>
      )}
    </form>
  );
}

/** Back to the section, without what was begun there. */
export function Cancel() {
  const text = useAccountText();
  const { section } = useAccount();
  return (
    <p className="links">
      <a href={useSectionUrl()(section)}>{text('cancel')}</a>
    </p>
  );
}

/** In place of a section with which this person can do nothing here: why. */
export function ClosedSection({ why }: { why: AccountKey }) {
  const text = useAccountText();
  return (
    <div className="stack">
      <Alert>{text(why)}</Alert>
    </div>
  );
}

type PlaceProps = { browser: string | null; isThis: boolean; facts: readonly string[] };

/** A browser in a list, with what is known of it. */
export function Place({ browser, isThis, facts }: PlaceProps) {
  const text = useAccountText();
  return (
    <div className="place">
      <h2>{browser ?? text('account-browser-unknown')}</h2>
      {isThis && <p className="this">{text('account-this')}</p>}
      {facts.map((fact) => (
        <p key={fact}>{fact}</p>
      ))}
    </div>
  );
}

import type { ComponentProps, ReactNode } from 'react';
import { type AccountSection, type AskedProof, accountFields } from '#contract/account.ts';
import { longestCodeText } from '#contract/codes.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { UsernameField } from '../components/checked-field.tsx';
import { Alert } from '../components/notice.tsx';
import { HiddenFields } from '../components/portal-form.tsx';
import { PasswordField, TextField } from '../components/text-field.tsx';
import { type AccountKey, sectionTitle, useAccount, useBehind } from './account-context.tsx';

type Props = Omit<ComponentProps<'form'>, 'action'> & {
  action: string;
  /** The address of the page whose form it is, if not of this one. */
  of?: string;
  /** What its button says; absent where the form has one of its own. */
  button?: AccountKey;
  /** What the button is about, where several say the same. */
  about?: string;
  look?: 'quiet';
  [data: `data-${string}`]: string;
};

/** A form of a page behind the door: it names the session that its page belongs to, and what it does. */
export function AccountForm({ action, of, button, about, look, children, ...more }: Props) {
  const { text, here, sessionId } = useBehind();
  return (
    <form method="post" action={of ?? here} {...more}>
      <input type="hidden" name={accountFields.sessionId} value={sessionId} />
      <input type="hidden" name={accountFields.action} value={action} />
      {children}
      {button && (
        <button
          className={look ? `button ${look}` : 'button'}
          type="submit"
          aria-label={about && `${text(button)}: ${about}`}
        >
          {text(button)}
        </button>
      )}
    </form>
  );
}

/** The form of what was begun, with what it means above it, and the way back below. */
export function BegunForm({ hint, ...form }: Props & { hint?: string | false }) {
  return (
    <>
      {hint && <p className="hint">{hint}</p>}
      <AccountForm {...form} />
      <Cancel />
    </>
  );
}

/** Back to the section, without what was begun there. */
export function Cancel() {
  const { text, here } = useBehind();
  return (
    <p className="links">
      <a href={here}>{text('cancel')}</a>
    </p>
  );
}

/** In place of a section with which this person can do nothing here: why. */
export function ClosedSection({ why }: { why: AccountKey }) {
  return <Alert>{useAccount().text(why)}</Alert>;
}

/** A link to a section, which says besides its words which. */
export function SectionLink({ to, text: key, look }: { to: AccountSection; text: AccountKey; look?: string }) {
  const { text, toSection } = useAccount();
  return (
    <a className={look} href={toSection(to)} aria-label={`${text(key)}: ${text(sectionTitle(to))}`}>
      {text(key)}
    </a>
  );
}

type RowProps = {
  name?: string;
  mark?: string | false;
  tone?: 'good' | 'warn' | 'bad';
  facts: ReactNode[];
  children?: ReactNode;
};

/** A line of a list: what it is, its state, and at its end what can be done about it. */
export function Row({ name, mark, tone = 'good', facts, children }: RowProps) {
  const known = facts.filter(Boolean);
  return (
    <li className="row">
      <div>
        {name && <b>{name}</b>}
        {mark && <p className={`state ${tone}`}>{mark}</p>}
        {known.map((fact, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the facts have no identity but their order
          <p key={index}>{fact}</p>
        ))}
      </div>
      {children}
    </li>
  );
}

/** A part of a page, with what leads to all of it. */
export function Panel({ title, link, children }: { title: AccountKey; link?: ReactNode; children: ReactNode }) {
  return (
    <section className="panel">
      <header>
        <h2>{useBehind().text(title)}</h2>
        {link}
      </header>
      {children}
    </section>
  );
}

/** Asks who it is once more, where something was begun; what was begun comes back afterwards. */
export function ProofForm({ ask }: { ask: AskedProof }) {
  const { text, username, begun, kept } = useBehind();
  if (ask === 'signIn') return <SignInAgain />;
  return (
    <BegunForm hint={text(`account-proof-${ask}`)} action="prove" button="continue">
      <HiddenFields of={[[accountFields.begun, begun ?? ''], ...Object.entries(kept)]} />
      {ask === 'password' ? (
        <>
          <UsernameField username={username} />
          <PasswordField
            id="password"
            label={text('account-password-title')}
            autoComplete="current-password"
            autoFocus
          />
        </>
      ) : (
        <TextField
          id="code"
          name="code"
          label={text('account-code')}
          autoComplete="one-time-code"
          required
          maxLength={longestCodeText}
          autoFocus
        />
      )}
    </BegunForm>
  );
}

/** Where nothing can be asked here: signs out, and returns once signed in again. */
export function SignInAgain() {
  const { text, comesBackTo } = useBehind();
  const { toCall } = useApp();
  return (
    <>
      <p className="hint">{text('account-proof-signIn')}</p>
      <form method="post" action={toCall('logoutConfirmed', { [queryNames.destination]: comesBackTo })}>
        <button className="button" type="submit">
          {text('account-sign-in-again')}
        </button>
      </form>
      <Cancel />
    </>
  );
}

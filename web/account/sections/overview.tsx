import type { ViewOf } from '#contract/account.ts';
import { languageNames, languageOfTag, languages } from '#contract/languages.ts';
import { useApp } from '../../app-context.ts';
import { Alert } from '../../components/notice.tsx';
import { type AccountKey, sectionTitle, useAccount } from '../account-context.tsx';
import { AccountForm, Panel, Row, SectionLink } from '../account-form.tsx';
import { TextAt, Time } from '../times.tsx';
import { SessionRow, SignInList } from './sessions.tsx';

type Props = ViewOf<'overview'>;

/** How many of a list stand here; the section has all of them. */
const shown = 3;
/** With so few recovery codes left, new ones are suggested. */
const few = 2;

/** How somebody signs in, where they are signed in, and what happened lately; each line says its state, and has its act. */
export function Overview(view: Props) {
  const { text } = useAccount();
  const { sessions, signIns, devices } = view;
  return (
    <>
      {view.support.length > 0 && <Support {...view} />}
      {view.isPart ? <Alert>{text('account-part')}</Alert> : <OwnSignIn {...view} />}
      <Panel title="account-sessions-title" link={<SectionLink to="sessions" text="account-all" />}>
        <ul className="rows">
          {sessions.slice(0, shown).map((session) => (
            <SessionRow key={session.id} {...session} />
          ))}
          {devices > 0 && !view.isPart && (
            <Row name={text('account-devices-title')} facts={[`${devices} · ${text('account-devices-text')}`]}>
              <SectionLink to="devices" text="account-manage" look="button quiet" />
            </Row>
          )}
        </ul>
      </Panel>
      <Panel title="account-sign-ins-title" link={<SectionLink to="signIns" text="account-all" />}>
        <SignInList signIns={signIns.slice(0, shown)} />
      </Panel>
      {!view.isPart && <LanguageChoice {...view} />}
    </>
  );
}

function OwnSignIn({ isPasswordOpen, passkeys, appSince, recoveryCodesLeft }: Props) {
  const { text } = useAccount();
  const isShort = recoveryCodesLeft <= few;
  const left =
    recoveryCodesLeft === 0 ? text('account-count-none') : text('account-count-left', { count: recoveryCodesLeft });
  return (
    <Panel title="account-sign-in-title">
      <ul className="rows">
        <Row
          name={text(sectionTitle('password'))}
          facts={[text(isPasswordOpen ? 'account-in-use' : 'account-password-fixed')]}
        >
          {isPasswordOpen && <SectionLink to="password" text="account-change" look="button quiet" />}
        </Row>
        <Row name={text(sectionTitle('passkeys'))} facts={[passkeys.join(', ') || text('account-count-none')]}>
          <SectionLink to="passkeys" text="account-manage" look="button quiet" />
        </Row>
        <Row
          name={text(sectionTitle('app'))}
          facts={[
            appSince ? <TextAt key="since" text="account-since" at={appSince} isDay /> : text('account-app-none'),
          ]}
        >
          <SectionLink to="app" text={appSince === null ? 'account-set-up' : 'account-manage'} look="button quiet" />
        </Row>
        {appSince !== null && (
          <Row name={text(sectionTitle('recoveryCodes'))} mark={isShort && left} tone="warn" facts={[!isShort && left]}>
            <SectionLink to="recoveryCodes" text="account-renew" look={isShort ? 'button' : 'button quiet'} />
          </Row>
        )}
      </ul>
    </Panel>
  );
}

/** What others did to the account, so that nobody is changed behind their back; a reset that is ahead can be called off. */
function Support({ support, resetAt }: Props) {
  const { text } = useAccount();
  return (
    <Panel title="account-support-title">
      <ul className="rows">
        {resetAt && (
          <Row mark={text('account-reset-soon')} tone="warn" facts={[<Time key="at" at={resetAt} />]}>
            <AccountForm action="keepFactor" button="account-reset-keep" about={text('account-reset-soon')} />
          </Row>
        )}
        {support.map(({ at, event }) => (
          <Row key={at.toISOString()} name={text(`event-${event}` as AccountKey)} facts={[<Time key="at" at={at} />]} />
        ))}
      </ul>
    </Panel>
  );
}

function LanguageChoice({ language: chosen }: Props) {
  const { text, kept } = useAccount();
  const { language } = useApp();
  return (
    <Panel title="language">
      <AccountForm action="language" className="beside" button="account-language-button" look="quiet">
        <div className="field">
          <label htmlFor="chosen">{text('account-language-label')}</label>
          <div className="control choice">
            <select id="chosen" name="language" defaultValue={languageOfTag(kept.language ?? '') ?? chosen ?? language}>
              {languages.map((tag) => (
                <option key={tag} value={tag} lang={tag}>
                  {languageNames[tag]}
                </option>
              ))}
            </select>
          </div>
        </div>
      </AccountForm>
    </Panel>
  );
}

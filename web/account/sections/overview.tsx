import type { AccountSection, AccountView } from '#contract/account.ts';
import { callUrl } from '#contract/calls.ts';
import { languageNames, languageOfTag, languages } from '#contract/languages.ts';
import { useApp } from '../../app-context.ts';
import { Alert } from '../../components/notice.tsx';
import { Fact } from '../../components/reference.tsx';
import { sectionTitle, useAccount, useAccountText, useSectionUrl } from '../account-context.tsx';
import { AccountForm } from '../account-form.tsx';

type Props = Extract<AccountView, { name: 'overview' }>;

/** Who is signed in, and the sections with what each of them is about. */
export function Overview(view: Props) {
  const text = useAccountText();
  const { language, page } = useApp();
  const { username, kept } = useAccount();
  const { email, customers, provider, sections } = view;
  return (
    <>
      <div className="stack">
        <div className="facts">
          <Fact label={text('signed-in-username')}>{username}</Fact>
          <Fact label={text('signed-in-email')}>{email}</Fact>
          {customers.length > 0 && <Fact label={text('signed-in-customers')}>{customers.join(', ')}</Fact>}
          {provider !== null && <Fact label={text('account-signed-in-by')}>{provider}</Fact>}
        </div>
        {view.isPart && <Alert>{text('account-part')}</Alert>}
        <ul className="sections" aria-label={text('account-sections')}>
          {sections.map((section) => (
            <Entry key={section} section={section} view={view} />
          ))}
        </ul>
      </div>
      {!view.isPart && (
        <AccountForm action="language" button="account-language-button" look="quiet">
          <div className="field">
            <label htmlFor="chosen">{text('account-language-label')}</label>
            <div className="control choice">
              <select
                id="chosen"
                name="language"
                defaultValue={languageOfTag(kept.language ?? '') ?? view.language ?? language}
              >
                {languages.map((tag) => (
                  <option key={tag} value={tag} lang={tag}>
                    {languageNames[tag]}
                  </option>
                ))}
              </select>
            </div>
          </div>
        </AccountForm>
      )}
      <form method="post" action={callUrl(page.rules.basePath, 'logoutConfirmed')}>
        <button className="button quiet" type="submit">
          {text('sign-out-button')}
        </button>
      </form>
    </>
  );
}

function Entry({ section, view }: { section: Exclude<AccountSection, 'overview'>; view: Props }) {
  const text = useAccountText();
  const href = useSectionUrl()(section);
  return (
    <li>
      <a href={href}>
        <strong>{text(sectionTitle[section])}</strong>
        <span>{stateOf(section, view)}</span>
      </a>
    </li>
  );

  function stateOf(section: Exclude<AccountSection, 'overview'>, view: Props): string {
    switch (section) {
      case 'app':
        return text(view.appSince === null ? 'account-app-none' : 'account-app-set-up');
      case 'recoveryCodes':
        return counted('account-count-left', view.recoveryCodesLeft);
      case 'passkeys':
        return text('account-passkeys-about');
      case 'devices':
        return counted('account-count', view.devices);
      case 'sessions':
        return counted('account-count', view.sessions);
      case 'password':
        return text(view.isPasswordOpen ? 'account-password-about' : 'account-password-fixed');
      case 'signIns':
        return text('account-sign-ins-about');
    }
  }

  function counted(words: 'account-count' | 'account-count-left', count: number): string {
    return count === 0 ? text('account-count-none') : text(words, { count });
  }
}

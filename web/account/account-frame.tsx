import type { ReactNode } from 'react';
import { languageNames, languages } from '#contract/languages.ts';
import { queryNames } from '#contract/screens.ts';
import { useApp } from '../app-context.ts';
import { Icon, shapes } from '../components/icon.tsx';
import { PageHeader } from '../components/page-frame.tsx';
import { useAccount, useAccountText, useSectionUrl } from './account-context.tsx';

/** The frame of the other screens (parts/page-frame.tsx), for a page without a script. */
export function AccountFrame({ children }: { children: ReactNode }) {
  const text = useAccountText();
  const { links } = useApp().page.branding;
  return (
    <div className="portal account">
      <div className="wall">
        <div className="door">
          <div className="column">
            <PageHeader />
            <main aria-busy={false}>
              <div className="content">{children}</div>
            </main>
          </div>
        </div>
      </div>
      <footer className="floor">
        <a href={links.solutions}>{text('tagline')}</a>
        <nav aria-label={text('service-links')}>
          <a href={links.support}>{text('support')}</a>
          <a href={links.imprint}>{text('imprint')}</a>
          <LanguageForm />
        </nav>
      </footer>
      <p className="sr" role="status" />
    </div>
  );
}

/** The language menu, with a button of its own: no script sends it. */
function LanguageForm() {
  const text = useAccountText();
  const { language } = useApp();
  const { section, begun } = useAccount();
  const action = useSectionUrl()(section);
  return (
    <form className="language" method="get" action={action.split('?')[0]}>
      {begun !== null && <input type="hidden" name="do" value={begun} />}
      <label htmlFor="lang">
        <Icon shape={shapes.globe} size={18} />
        <span className="sr">{text('language')}</span>
      </label>
      <select id="lang" name={queryNames.language} autoComplete="off" defaultValue={language}>
        {languages.map((tag) => (
          <option key={tag} value={tag} lang={tag}>
            {languageNames[tag]}
          </option>
        ))}
      </select>
      <button type="submit">{text('language-apply')}</button>
    </form>
  );
}

import { type ComponentType, startTransition, useEffect, useRef, useState } from 'react';
import type { Language } from '#contract/languages.ts';
import type { RenderedPage } from '#contract/page.ts';
import { queryNames } from '#contract/screens.ts';
import { addressInLanguage, withParameter } from './addresses.ts';
import { AppContext, shownAt } from './app-context.ts';
import { PageFrame } from './components/page-frame.tsx';
import { loadTexts } from './load-texts.ts';
import type { Texts } from './messages.ts';
import { CurrentScreen } from './screens/current-screen.tsx';
import { useLeavePage } from './use-leave-page.ts';
import { type Start, useNavigation } from './use-navigation.ts';

type Props = Start & {
  page: RenderedPage;
  language: Language;
  texts: Texts;
  /** The screens that the sign-in form does not need: loaded lazily in browsers. */
  LaterScreen: ComponentType;
};

export function App({ language: firstLanguage, texts: firstTexts, LaterScreen, ...first }: Props) {
  const { page } = first;
  const [announcement, announce] = useState('');
  const typedUsername = useRef(page.typedUsername);
  const { word, leave, comeBack, fadeOver } = useLeavePage();
  const { place, showing, setParameter, ...navigation } = useNavigation(first, { fadeOver, comeBack });
  const [{ language, texts }, setSpoken] = useState({ language: firstLanguage, texts: firstTexts });

  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);

  async function setLanguage(next: Language) {
    try {
      // Of an invitation only its document has the words.
      if ('invitation' in page.screen) throw new Error('Another document');
      const texts = await loadTexts(next, page.ownTexts);
      startTransition(() => setSpoken({ language: next, texts }));
      setParameter(queryNames.language, next);
      history.replaceState(null, '', addressInLanguage(location, next));
    } catch {
      location.search = withParameter(location.search, queryNames.language, next);
    }
  }

  const app = {
    ...navigation,
    ...shownAt(page, place, texts),
    language,
    typedUsername,
    isLeaving: word !== null,
    leave,
    comeBack,
    setLanguage,
    announce,
  };
  return (
    <AppContext value={app}>
      <PageFrame word={word} announcement={announcement} showing={showing}>
        <CurrentScreen key={showing} LaterScreen={LaterScreen} />
      </PageFrame>
    </AppContext>
  );
}

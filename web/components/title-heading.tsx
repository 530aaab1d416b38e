import { useEffect } from 'react';
import type { Page } from '#contract/page.ts';
import { useApp } from '../app-context.ts';
import type { MessageKey } from '../messages.ts';

/** The only heading of a screen, which is also the document's title; a screen change focuses it. */
export function TitleHeading({ titleKey, prefix }: { titleKey: MessageKey; prefix?: string | undefined }) {
  const { message, page } = useApp();
  const title = message(titleKey);
  useEffect(() => {
    document.title = documentTitle(title, page);
  }, [title, page]);
  return (
    <h1 tabIndex={-1}>
      {prefix && <span className="sr">{prefix}</span>}
      {title}
    </h1>
  );
}

export function documentTitle(heading: string, { branding }: Page): string {
  return `${heading} · ${branding.name}`;
}

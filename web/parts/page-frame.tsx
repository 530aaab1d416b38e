import { type ReactNode, useEffect, useRef } from 'react';
import { type MessageKey, useMessage } from '../messages.tsx';
import { PageFooter } from './page-footer.tsx';
import { PageHeader } from './page-header.tsx';
import { Veil } from './veil.tsx';

type Props = { word: MessageKey | null; announcement: string; showing: number; children: ReactNode };

/** The frame that stays while the content changes: wall, door, header, floor, and the veil shown on leaving. */
export function PageFrame({ word, announcement, showing, children }: Props) {
  const message = useMessage('please-wait');
  const content = useRef<HTMLDivElement>(null);
  const lastShowing = useRef(showing);

  // On a new screen the heading takes the focus unless a field has.
  useEffect(() => {
    if (lastShowing.current === showing) return;
    lastShowing.current = showing;
    if (!content.current?.contains(document.activeElement)) content.current?.querySelector('h1')?.focus();
  }, [showing]);

  return (
    <div className={word ? 'portal busy' : 'portal'}>
      <div className="wall">
        <div className="door">
          <div className="column">
            <PageHeader />
            <main aria-busy={word !== null}>
              <div className="content" ref={content} inert={word !== null}>
                {children}
              </div>
              {word && <Veil text={message(word)} />}
            </main>
          </div>
        </div>
      </div>
      <PageFooter />
      <p className="sr" role="status">
        {word ? message(word) : announcement}
      </p>
    </div>
  );
}

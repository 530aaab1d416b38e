import { type ReactNode, useEffect, useRef } from 'react';
import { Icon } from './icon.tsx';
import { shapes } from './shapes.tsx';

type Props = {
  id?: string;
  kind?: 'info' | 'bad';
  title?: string;
  /** Answers something the visitor did: it interrupts and takes the focus, every time. */
  answerTo?: object | null;
  children: ReactNode;
};

/** Says what happened. */
export function Alert({ id, kind = 'info', title, answerTo = null, children }: Props) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (answerTo) element.current?.focus();
  }, [answerTo]);
  return (
    <div
      id={id}
      className={kind === 'bad' ? 'alert bad' : 'alert'}
      role={answerTo ? 'alert' : 'note'}
      tabIndex={answerTo ? -1 : undefined}
      ref={element}
    >
      <Icon shape={shapes[kind === 'bad' ? 'alert' : 'info']} />
      <p>
        {title && (
          <strong>
            {title}
            <span className="sr">. </span>
          </strong>
        )}
        {children}
      </p>
    </div>
  );
}

import { Component, type ReactNode } from 'react';
import { type MessageKey, type SomeTexts, textOf } from '../messages.tsx';

type Props = { texts: SomeTexts; onError: () => void; children: ReactNode };

/** Every document carries them: nothing can be loaded for an error. */
export const errorDoorTexts = ['general-error-something-went-wrong', 'reload'] as const satisfies MessageKey[];

/** A script error must never leave an empty page: shows a message and offers to reload. */
export class ErrorDoor extends Component<Props, { isBroken: boolean }> {
  override state = { isBroken: false };

  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override componentDidCatch() {
    this.props.onError();
  }

  override render() {
    const { texts, children } = this.props;
    if (!this.state.isBroken) return children;
    const [title, reload] = errorDoorTexts;
    return (
      <div className="portal">
        <div className="wall">
          <div className="door">
            <main className="column">
              <h1>{textOf(texts, title)}</h1>
              <div className="stack">
                <button className="button" type="button" onClick={() => location.reload()}>
                  {textOf(texts, reload)}
                </button>
              </div>
            </main>
          </div>
        </div>
      </div>
    );
  }
}

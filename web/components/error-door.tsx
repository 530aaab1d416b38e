import { Component, type ReactNode } from 'react';
import type { Texts } from '../messages.ts';

type Props = { texts: Texts; onError: () => void; children: ReactNode };

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
    return (
      <div className="portal">
        <div className="wall">
          <div className="door">
            <div className="column">
              <main>
                <h1>{texts['general-error-something-went-wrong']}</h1>
                <div className="stack">
                  <button className="button" type="button" onClick={() => location.reload()}>
                    {texts.reload}
                  </button>
                </div>
              </main>
            </div>
          </div>
        </div>
      </div>
    );
  }
}

import type { PlainScreen } from '#contract/screens.ts';
import { limits } from '../limits.ts';
import type { HalfSession } from './half-session.ts';

/** The part of who a visitor is that decides where they are sent. */
export type Standing =
  | { kind: 'nobody' | 'ended' | 'full' }
  | { kind: 'half'; half: Pick<HalfSession, 'mustRegister' | 'codeTries'> };

/** What a visitor may ask for: a screen, or the page behind the sign-in. */
export type AskedPage = PlainScreen | 'loginFail' | 'hub';

/** What to do with the request of a page: show it, or send the visitor elsewhere. */
type WhereTo =
  | { kind: 'show' }
  | { kind: 'destination' }
  /** The screen that the half session awaits. */
  | { kind: 'secondFactor' }
  | { kind: 'login'; notice?: 'signInExpired' | 'tooManyCodes' };

/**
 * Where a visitor who requests a page is sent. Whether a screen then shows its form or a message is up
 * to the screen.
 */
export function whereTo(standing: Standing, asked: AskedPage): WhereTo {
  switch (asked) {
    case 'login':
      return standing.kind === 'full' ? { kind: 'destination' } : { kind: 'show' };
    case 'hub':
      return atHub(standing);
    case 'twoFactor':
    case 'twoFactorRegistration':
      return atSecondFactor(standing, asked);
    default:
      return { kind: 'show' };
  }
}

function atHub({ kind }: Standing): WhereTo {
  if (kind === 'full') return { kind: 'show' };
  return kind === 'half' ? { kind: 'secondFactor' } : { kind: 'login' };
}

function atSecondFactor(standing: Standing, asked: 'twoFactor' | 'twoFactorRegistration'): WhereTo {
  switch (standing.kind) {
    case 'nobody':
      return { kind: 'login' };
    case 'ended':
      return { kind: 'login', notice: 'signInExpired' };
    case 'half':
      if (standing.half.codeTries >= limits.codeTries) return { kind: 'login', notice: 'tooManyCodes' };
      return asked === screenOfFactor(standing.half) ? { kind: 'show' } : { kind: 'secondFactor' };
    case 'full':
      // A user may add an app voluntarily.
      return asked === 'twoFactorRegistration' ? { kind: 'show' } : { kind: 'destination' };
  }
}

/** The screen that a half session awaits. */
export function screenOfFactor({ mustRegister }: { mustRegister: boolean }): 'twoFactor' | 'twoFactorRegistration' {
  return mustRegister ? 'twoFactorRegistration' : 'twoFactor';
}

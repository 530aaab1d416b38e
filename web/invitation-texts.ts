import type en from '#messages/en.json';
import type { MessageKey, SomeTexts } from './messages.tsx';

type InvitationText = Extract<keyof typeof en, `invitation-${string}`>;
export type TextsOfInvitations = Record<InvitationText, string>;

/** What the screens of a reset link say to somebody who has no password yet, by the text that it replaces. */
const replaced = {
  'change-title': 'invitation-title',
  'change-password': 'invitation-password',
  'change-repeat': 'invitation-repeat',
  'change-button': 'invitation-button',
  'change-no-link-text': 'invitation-no-link-text',
  'changed-title': 'invitation-done-title',
  'changed-text': 'invitation-done-text',
  'change-failed-title': 'invitation-failed-title',
  'changed-failed-page-error-3': 'invitation-over',
  'changed-failed-page-error-4': 'invitation-failed-text',
} as const satisfies Partial<Record<MessageKey, InvitationText>>;

/** The texts of an invitation under the keys of those that they replace in its documents. */
export function invitationTexts(texts: TextsOfInvitations): SomeTexts {
  return Object.fromEntries(Object.entries(replaced).map(([key, other]) => [key, texts[other]]));
}

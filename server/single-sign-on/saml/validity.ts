import { limits } from '../../limits.ts';
import { said } from './said.ts';
import { samlTime } from './time.ts';
import { attributeOf, type XmlElement } from './xml-elements.ts';

/** The provider's clock may be this far ahead of ours. */
export function latest(now: Date): number {
  return now.getTime() + limits.providerClock;
}

/** When a message or an assertion is too old for every check, so that its use need not be remembered any longer. */
export function acceptableUntil(element: XmlElement): Date {
  const issued = samlTime(attributeOf(element, 'IssueInstant')) ?? 0;
  return new Date(issued + limits.samlAssertionAge + limits.providerClock);
}

/** Why an element, called `of` in words, is too old or of the future by our own limits; null if it is neither. */
export function ageProblem(element: XmlElement, of: string, now: Date): string | null {
  const text = attributeOf(element, 'IssueInstant');
  const issued = samlTime(text);
  if (issued === null || Number.isNaN(issued)) return `${of} was issued at ${said(text)}, which is not a time`;
  if (issued > latest(now)) return `${of} was issued in the future: ${said(text)}`;
  return now < acceptableUntil(element) ? null : `${of} is too old: it was issued at ${said(text)}`;
}

/** Why what an element limits by an attribute, called `of` in words, is over; null if it is not. */
export function endProblem(element: XmlElement, name: string, of: string, now: Date): string | null {
  const text = attributeOf(element, name);
  const end = samlTime(text);
  if (end === null) return `${of} has no end`;
  // Not `<=`: an unreadable time must not count as the future.
  return end > now.getTime() - limits.providerClock ? null : `${of} ended at ${said(text)}`;
}

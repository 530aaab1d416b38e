import { expect, it } from 'vitest';
import { noticeOfSearch } from './notices.ts';

it.each([
  ['?notice=signInExpired', 'signInExpired'],
  ['?lang=de&notice=codeWrong', 'codeWrong'],
  ['?notice=clockWrong&offset=60', 'clockWrong'],
  ['?notice=codeMalformed', 'codeMalformed'],
  ['?notice=emailMalformed', 'emailMalformed'],
  ['?notice=codeSent', 'codeSent'],
  ['?notice=codeTooSoon', 'codeTooSoon'],
  ['?notice=codeNotSent', 'codeNotSent'],
  ['?notice=constructor', null],
  ['?notice=<b>', null],
  ['', null],
])('the notice of %j is %j', (search, notice) => expect(noticeOfSearch(search)).toBe(notice));

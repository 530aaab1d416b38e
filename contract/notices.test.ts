import { expect, it } from 'vitest';
import { eachRow } from '#test/support/runs-all.ts';
import { noticeOfSearch } from './notices.ts';

it('the notice of an address is one of the list, or none', () =>
  eachRow(
    [
      ['?notice=signInExpired', 'signInExpired'],
      ['?lang=de&notice=codeWrong', 'codeWrong'],
      ['?notice=codeWrong&lang=de', 'codeWrong'],
      ['?notice=codeMalformed', 'codeMalformed'],
      ['?notice=emailMalformed', 'emailMalformed'],
      ['?notice=codeSent', 'codeSent'],
      ['?notice=codeTooSoon', 'codeTooSoon'],
      ['?notice=codeNotSent', 'codeNotSent'],
      ['?notice=constructor', null],
      ['?notice=<b>', null],
      ['', null],
    ],
    ([search, notice]) => expect(noticeOfSearch(search)).toBe(notice),
  ));

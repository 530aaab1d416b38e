import type { Request, Route } from '@playwright/test';
import { type Dispatcher, request as sendRequest } from 'undici';

/** Headers that belong to a connection. */
const ofConnection = /^(?::|host$|connection$|content-length$)/;

/** Sends a request to the server in place of the browser, which learns nothing of the answer. */
export async function sendInstead(request: Request, withoutHeader?: string): Promise<Dispatcher.ResponseData> {
  const headers = Object.entries(await request.allHeaders()).filter(
    ([name]) => !ofConnection.test(name) && name !== withoutHeader,
  );
  return await sendRequest(request.url(), {
    method: request.method() as Dispatcher.HttpMethod,
    // Of a page the browser adds this after it has shown the request here.
    headers: { ...Object.fromEntries(headers), ...(request.isNavigationRequest() && { 'sec-fetch-mode': 'navigate' }) },
    body: request.postDataBuffer(),
  });
}

/** The server does what a request asks, and the line breaks before the browser reads anything of the answer. */
export async function loseAnswer(route: Route): Promise<void> {
  const { body } = await sendInstead(route.request());
  await body.dump();
  await route.abort('connectionreset');
}

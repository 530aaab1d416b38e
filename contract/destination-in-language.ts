import { isDefaultDestination } from './destination.ts';
import { queryNames } from './screens.ts';

/**
 * The destination in the language that the visitor chose (decisions §2), if it is where sign-in leads by default: then it
 * goes by our own address, which leads on. Nothing is added to any other destination, which may be the hub's.
 */
export function destinationInLanguage(destination: string, basePath: string, language: string | undefined): string {
  const [start = '', ...fragment] = destination.split('#');
  if (!language || !isDefaultDestination(start, basePath)) return destination;
  return [`${basePath}/?${queryNames.language}=${language}`, ...fragment].join('#');
}

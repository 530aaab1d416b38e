import { isDefaultDestination } from './destination.ts';
import { queryNames } from './screens.ts';

/**
 * The destination in the language that the visitor chose (decisions §2), if it is the default one: then it goes through
 * our own address, which redirects. Nothing is added to any other destination, which may be the hub's.
 */
export function destinationInLanguage(destination: string, basePath: string, language: string | undefined): string {
  const [start = '', ...fragment] = destination.split('#');
  if (!language || !isDefaultDestination(start, basePath)) return destination;
  return [`${basePath}/?${queryNames.language}=${language}`, ...fragment].join('#');
}

import { createElement, type ElementType, Fragment } from 'react';

export { Fragment };

/** Makes an element. The first script already has `createElement`; React's own of this name is one more file in it. */
export function jsx(type: ElementType, props: object, key?: string) {
  return createElement(type, key === undefined ? props : { ...props, key });
}

export const jsxs = jsx;

/** An element's name: namespace and local name. */
export type XmlName = readonly [namespace: string, name: string];

/** All elements below one, and itself, in the order of the document. */
export function elementsIn(root: Element): Element[] {
  return [root, ...childrenOf(root).flatMap(elementsIn)];
}

export function childrenOf(parent: Element): Element[] {
  return Array.from(parent.childNodes).filter((node): node is Element => node.nodeType === 1);
}

export function childrenNamed(parent: Element, name: XmlName): Element[] {
  return childrenOf(parent).filter((child) => isNamed(child, name));
}

/** The elements of this name below one. */
export function descendantsNamed(root: Element, name: XmlName): Element[] {
  return elementsIn(root)
    .slice(1)
    .filter((element) => isNamed(element, name));
}

export function isNamed(element: Element, [namespace, name]: XmlName): boolean {
  return element.namespaceURI === namespace && element.localName === name;
}

/** An attribute without a namespace; null when it is not there. */
export function attributeOf(element: Element, name: string): string | null {
  return element.hasAttribute(name) ? element.getAttribute(name) : null;
}

/** What an element says; null when anything but text is in it, so that nothing is ever cut. */
export function textOf(element: Element): string | null {
  const nodes = Array.from(element.childNodes);
  return nodes.every(({ nodeType }) => nodeType === 3) ? nodes.map(({ nodeValue }) => nodeValue ?? '').join('') : null;
}

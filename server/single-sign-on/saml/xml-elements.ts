/** What we use of a parsed document (DOM Level 2 Core §1.2). */
export type XmlNode = {
  nodeType: number;
  nodeValue: string | null;
  parentNode: XmlNode | null;
  firstChild: XmlNode | null;
  nextSibling: XmlNode | null;
  removeChild(child: XmlNode): unknown;
  insertBefore(child: XmlNode, before: XmlNode | null): unknown;
};

export type XmlElement = XmlNode & {
  namespaceURI: string | null;
  localName: string;
  nodeName: string;
  childNodes: ArrayLike<XmlNode>;
  attributes: ArrayLike<{ name: string; localName: string | null; value: string }>;
  hasAttribute(name: string): boolean;
  getAttribute(name: string): string | null;
  /** As XML. */
  toString(): string;
};

/** An element's name: namespace and local name. */
export type XmlName = readonly [namespace: string, name: string];

/** An element and all elements below it, in document order. */
export function elementsIn(root: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  const collect = (element: XmlElement) => {
    found.push(element);
    for (let node = element.firstChild; node !== null; node = node.nextSibling) if (isElement(node)) collect(node);
  };
  collect(root);
  return found;
}

export function childrenOf(parent: XmlElement): XmlElement[] {
  const found: XmlElement[] = [];
  for (let node = parent.firstChild; node !== null; node = node.nextSibling) if (isElement(node)) found.push(node);
  return found;
}

export function childrenNamed(parent: XmlElement, name: XmlName): XmlElement[] {
  return childrenOf(parent).filter((child) => isNamed(child, name));
}

/** The elements of this name below an element. */
export function descendantsNamed(root: XmlElement, name: XmlName): XmlElement[] {
  return elementsIn(root)
    .slice(1)
    .filter((element) => isNamed(element, name));
}

export function isNamed(element: XmlElement, [namespace, name]: XmlName): boolean {
  return element.namespaceURI === namespace && element.localName === name;
}

function isElement(node: XmlNode): node is XmlElement {
  return node.nodeType === 1;
}

/** An attribute without a namespace, or null. */
export function attributeOf(element: XmlElement, name: string): string | null {
  return element.hasAttribute(name) ? element.getAttribute(name) : null;
}

/** The text of an element; null if it contains anything else, so that nothing is ever cut. */
export function textOf(element: XmlElement): string | null {
  const nodes = Array.from(element.childNodes);
  return nodes.every(({ nodeType }) => nodeType === 3) ? nodes.map(({ nodeValue }) => nodeValue ?? '').join('') : null;
}

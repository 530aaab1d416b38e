/** A machine's names for itself; plain http is only allowed for them. */
export const loopbackNames = ['localhost', '127.0.0.1', '[::1]'];

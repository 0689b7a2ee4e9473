// breath.ts - a pause in work that takes long, in which the browser does what waits: what was drawn is shown, what was typed is heard.  A timer would be held
// back in a page that nobody looks at.
export const breath = (): Promise<void> => new Promise((done) => {
  const line = new MessageChannel();
  line.port1.onmessage = () => (line.port1.close(), done());
  line.port2.postMessage(null);
});

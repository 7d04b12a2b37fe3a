// Runs the worker of the search in a frame if the site is read from disk, where browsers start no worker.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const { contentWindow: inside, contentDocument: page } = this.frame;
      inside.postMessage = (data) => this.onmessage?.({ data: structuredClone(data) });
      this.started = new Promise((resolve, reject) => {
        const script = page.createElement("script");
        Object.assign(script, { src: url, onload: () => resolve(inside), onerror: reject });
        page.body.append(script);
      });
    }
    postMessage(data) { this.started.then((inside) => inside.onmessage({ data: structuredClone(data) })); }
    terminate() { this.frame.remove(); }
  };
}

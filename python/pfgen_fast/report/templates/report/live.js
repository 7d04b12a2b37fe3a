// Where `pfgen-fast view` serves the page: asks every two seconds whether it has changed, and then loads it again. What is
// open is in the address, so it is open again.

async function followChanges() {
  try {
    const reply = await fetch("/", { method: "HEAD", cache: "no-store" });
    const changed = Date.parse(reply.headers.get("Last-Modified"));
    if (changed > Date.parse(document.lastModified)) location.reload();
  } catch { /* the server has ended; it may begin again */ }
  setTimeout(followChanges, 2000);
}

setTimeout(followChanges, 2000);

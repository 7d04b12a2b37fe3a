// For pages that `pfgen-fast report --serve` serves: asks every two seconds whether the page has changed, and then loads it again.
// The address contains the open view, so the same view opens again.

async function followChanges() {
  try {
    const reply = await fetch(location.pathname, { method: "HEAD", cache: "no-store" });
    const changed = Date.parse(reply.headers.get("Last-Modified"));
    if (changed > Date.parse(document.lastModified)) location.reload();
  } catch { /* the server has ended; it may begin again */ }
  setTimeout(followChanges, 2000);
}

setTimeout(followChanges, 2000);

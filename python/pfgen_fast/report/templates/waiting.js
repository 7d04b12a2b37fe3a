// Loads a page again until the report has replaced it; a refresh by markup would not load an address with a fragment.
setTimeout(() => location.reload(), 1000);

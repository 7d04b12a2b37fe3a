// Starts the report page: the links to copy, the theme, and what the address asks for. The last script.

for (const button of document.querySelectorAll(".copy-link")) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Copy it from the address bar";
    }
    setTimeout(() => { button.textContent = "Copy link"; }, 2000);
  });
}

followTheme(drawSoon)();
followAddress();

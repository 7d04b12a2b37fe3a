// The last script, which starts the report page: the theme, and the view that the address names.

const showTheme = followTheme(drawSoon);
document.getElementById("theme").addEventListener("click", () => goFilters({ theme: theme.current }, { replace: true }));
whenChanged(() => {
  const asked = state.filters.get("theme");
  if (!["light", "dark"].includes(asked) || asked === theme.current) return;
  theme.choose(asked);
  showTheme();
});
showTheme();
followAddress();
